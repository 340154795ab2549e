/** Refuses passwords that are too short or among the most common (ASVS 6.2.4), by their stems and their decoration. */
import { errors } from './errors.ts';
import { fold } from './people.ts';

const SHORTEST = 8;
const LONGEST = 256;

/** Common stems, lower-case letters only. The shorter ones count only with a suffix. */
const STEMS = new Set(
  `aaron abcd abcde abcdef abcdefg abcdefgh abgrtyu access account admin administrator adobe alexander alexandra alexis amanda
  amateur america american anderson andrea andrew angel angela angels animal anthony apollo apple arsenal arthur asdf asdfg
  asdfgh asdfghjkl ashley asshole august austin azerty babygirl babylon badboy bailey banana bandit barbara barcelona barney
  baseball basketball batman beautiful beaver benjamin bigdaddy bigdog bismillah blessed blink blowjob boomer booboo boston
  bradley brandon brandy brazil brittany broncos brooklyn bubbles buddy bulldog business buster butterfly calvin camaro camille
  captain carlos carolina caroline casper celtic champion chance changeit changeme charles charlie charlotte cheese chelsea
  cherry chester chevrolet chicago chicken chocolate chris christian christina christine christopher chuck classic claudia coffee
  college compaq computer connect contact cookie corvette courtney cowboy cowboys creative cristiano crystal dallas daniel
  daniela danielle darkness david debbie default demo dennis destiny diablo diamond dolphin dolphins donald dragon eagle
  eagles edward einstein elephant elizabeth eminem enter everton explorer falcon family fender ferrari fireball firebird fishing
  florida flower flowers football forever france francis frank freddy freedom friend friends fuckme fuckoff fuckyou gabriel
  gandalf gateway genesis george giants ginger godzilla golden goldfish google gordon green guest guitar gunner hammer hannah
  happy hardcore harley heather hello helpme hockey homer hottie hunter iceman iloveu iloveyou india internet ironman jackie
  jackson jaguar jasmine jasper jennifer jeremy jessica jesus johnny johnson jonathan jordan joseph joshua juliet junior justin
  karina kawasaki killer killme kimberly king kingdom kitten knight kristina ladybug lakers lalala lauren legend leonardo letmein
  liverpool loading login london loser love lovely loveme lover loveyou lucky madison maggie magic manchester manager marina
  marine marlboro martin master matrix matthew maverick maxwell melissa mercedes mercury merlin metallica mexico michael michelle
  mickey midnight miller minecraft money monica monkey monster montana morgan mother motorola mountain mustang naruto natalie
  natasha nathan newyork nicholas nicole nintendo nirvana nothing number okmijn oliver orange pakistan panther panthers pass
  passcode passme passpass passphrase passw passwd password passwort patricia patrick peaches peanut pepper phantom phoenix
  player please pokemon police porsche princess private prince public purple qazwsx qazwsxedc qweasd qweasdzxc qwer qwert qwerty
  qwertyu qwertyui qwertyuiop rabbit rachel raiders rainbow ranger rangers rebecca redsox richard robert rocket root rosebud runner
  rushmore russia sabrina samantha samsung sandra saturn scooby scooter scorpion scorpio secret security senha server service
  sexy shadow shannon sharon shorty sierra silver skippy slayer slipknot smokey snoopy soccer something sophie spanky sparky
  special spider spiderman startrek starwars steelers stella stephanie steven success sum summer sunday sunflower sunshine super
  superman superstar support suzuki sweet sweetheart sweetie swordfish system taylor teacher teamo temp tennis teresa test tester
  testing testtest thomas thunder tiger tigers tigger tinkerbell toor toyota travis trinity trouble trustno turnpike tweety
  undertaker united university user valentina vanessa victor victoria viking vincent vladimir voyager warcraft warrior welcome
  whatever white whynot william willow wilson winner winston winter wizard wolf wolverine wonder xbox xxxxxx yamaha yankee
  yankees yellow zaq zaqwsx zaqxsw zxcvb zxcvbn zxcvbnm`.split(/\s+/),
);

/** Keyboard rows and columns, the alphabet and digits: a run along one of them is easily guessed. */
const RUNS = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiop',
  'qwertzuiop',
  'azertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  'zaq1xsw2cde3vfr4bgt5nhy6mju7ki8lo9p0',
  'qazwsxedcrfvtgbyhnujmikolp',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  'a1b2c3d4e5f6g7h8i9j0',
  '1a2b3c4d5e6f7g8h9i0j',
  '147258369',
  '159753456852',
  '112233445566778899',
  'aabbccddeeff',
].flatMap((run) => [run, [...run].reverse().join('')]);
/** The length of a run; a password made only of runs is refused. */
const SHORTEST_RUN = 3;
/** The maximum number of characters around a stem: dates, `123`, `!`. */
const DRESSING = 8;
/** Longer passwords are not in lists of common ones. */
const LONGEST_LISTED = 20;

const LEET: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/** Refuses (400) a password that is too short, too long, common, or the account's name. */
export function refuseWeak(password: string, name: string): void {
  // Counts code points, so that an emoji counts as one character.
  const length = [...password].length;
  if (length < SHORTEST || length > LONGEST) {
    throw errors.invalid_password(SHORTEST, LONGEST);
  }
  if (isCommon(password) || fold(password) === fold(name)) {
    throw errors.common_password();
  }
}

function isCommon(password: string): boolean {
  const text = password.toLowerCase();
  if (text.length > LONGEST_LISTED) return false;
  return isRepetition(text) || isMadeOfRuns(text) || isMadeOfRuns(unshifted(text)) || isDressedStem(text);
}

/** `aaaaaaaa`, `12341234`, `abcabcabc`: a short part, repeated. */
function isRepetition(text: string): boolean {
  return /^([ -~]{1,4})\1+$/.test(text) || /^([a-z0-9]{5,8})\1+$/.test(text);
}

/** `12345678`, `qwerty123`, `asdfqwer`. */
function isMadeOfRuns(text: string): boolean {
  let at = 0;
  while (at < text.length) {
    const length = longestRunAt(text, at);
    if (length < SHORTEST_RUN) return false;
    at += length;
  }
  return true;
}

/** `!@#` is `123` typed with Shift. */
function unshifted(text: string): string {
  return text.replace(/[!@#$%^&*()]/g, (sign) => String(('!@#$%^&*()'.indexOf(sign) + 1) % 10));
}

function longestRunAt(text: string, at: number): number {
  let length = text.length - at;
  const rest = text.slice(at);
  const same = /^(.)\1*/.exec(rest)?.[0].length ?? 0;
  while (length > same && !RUNS.some((run) => run.includes(rest.slice(0, length)))) length--;
  return length;
}

/** `password1!`, `P@ssw0rd2024`, `123monkey` are a stem with a few characters around it; `ilovemonkey` is not. */
function isDressedStem(text: string): boolean {
  const plain = text.replace(/^[^a-z]+|[^a-z]+$/g, '');
  if (text.length - plain.length <= DRESSING && isStem(plain)) return true;
  // `p4ssw0rd1`: digits are read as letters first, so that the rest counts as a suffix.
  const behind = /[\d\W_]*$/.exec(text)?.[0].length ?? 0;
  for (let cut = 0; cut <= Math.min(behind, DRESSING); cut++) {
    if (isStem(text.slice(0, text.length - cut).replace(/[013457@$!]/g, (sign) => LEET[sign] ?? sign))) return true;
  }
  return false;
}

/** The stem itself, or repeated twice. */
function isStem(text: string): boolean {
  return (
    STEMS.has(text) ||
    (text.length % 2 === 0 &&
      text === text.slice(0, text.length / 2).repeat(2) &&
      STEMS.has(text.slice(text.length / 2)))
  );
}
