/** `turnpike explain`: parses the described call and prints how it would be handled, in lines like those of `check`. */

import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Decision, ExplainedOffer } from '../../contracts/explaining.ts';
import type { Style } from '../../contracts/formats/style.ts';
import type { Images } from '../../contracts/formats/usage.ts';
import type { KeyPlaces } from '../../contracts/key-places.ts';
import { nearest } from '../../helpers/nearest.ts';
import { type CommandAnswer, type CommandRequest, UsageError } from '../../plugin.ts';
import { CommandFailed } from '../commands/command-line.ts';
import { type ExplainTools, explainCall, type SupposedFile } from './explain.ts';

/** The dependencies of the command, and where requests may contain a key. */
interface Tools extends ExplainTools {
  readonly keyPlaces: KeyPlaces | undefined;
}

/** Runs the command. Throws `CommandFailed` with the full output if the call would be refused. */
export async function runExplain(request: CommandRequest, tools: Tools): Promise<CommandAnswer> {
  const { stdin } = request;
  const key = required(request, 'key');
  const body = required(request, 'body');
  const style = styleOf(required(request, 'style'), tools);
  const files = await filesOf(request, style);
  if (key === '-' && body === '-') throw new UsageError('only one of --key and --body can be read from standard input');
  const decision = await explainCall(
    {
      headers: carrying(key === '-' ? stdin.trim() : key, tools.keyPlaces),
      style,
      body: await bytesOf(body, request),
      files,
    },
    tools,
  );
  const answer = { text: describeDecision(decision), json: decision };
  if (decision.refusal !== undefined) throw new CommandFailed(answer);
  return answer;
}

/** Puts the key where clients do. */
function carrying(key: string, places: KeyPlaces | undefined): Readonly<Record<string, string>> {
  const header = places?.headers[0] ?? 'authorization';
  return { [header]: header === 'authorization' ? `Bearer ${key}` : key };
}

function required({ values }: CommandRequest, name: string): string {
  const value = values[name];
  if (typeof value !== 'string' || value === '') throw new UsageError(`--${name} is missing`);
  return value;
}

function styleOf(name: string, { generation }: ExplainTools): Style {
  const { styles } = generation.deliver;
  const style = styles.get(name);
  if (style?.ingress !== undefined) return style;
  const names = [...styles.values()].filter(({ ingress }) => ingress !== undefined).map((each) => each.name);
  const meant = nearest(name, names);
  const hint = meant === undefined ? `there are ${names.join(', ')}` : `did you mean "${meant}"?`;
  throw new UsageError(`--style: clients cannot use the style "${name}"; ${hint}`);
}

async function bytesOf(file: string, { stdin, cwd }: CommandRequest): Promise<Buffer> {
  return file === '-' ? Buffer.from(stdin) : read('body', cwd, file);
}

/** `image=a.png,mask=b.png` */
async function filesOf({ values, cwd }: CommandRequest, style: Style): Promise<readonly SupposedFile[]> {
  if (typeof values.files !== 'string') return [];
  if (style.ingress?.form === undefined) throw new UsageError(`--files: the style ${style.name} does not accept files`);
  return Promise.all(
    values.files.split(',').map(async (each) => {
      const [, field, file] = /^([^=]+)=(.+)$/.exec(each) ?? [];
      if (field === undefined || file === undefined) throw new UsageError(`--files: "${each}" must be FIELD=FILE`);
      return { field, fileName: basename(file), bytes: await read('files', cwd, file) };
    }),
  );
}

async function read(option: string, cwd: string, file: string): Promise<Buffer> {
  try {
    return await readFile(resolve(cwd, file));
  } catch (error) {
    throw new UsageError(`--${option}: ${(error as Error).message}`);
  }
}

/** The explanation as lines: the plugin, and its statement. */
function describeDecision({ who, call, plugins, offers, refusal }: Decision): string {
  const row = (name: string, text: string): string => `${name.padEnd(14)}${text}\n`;
  let text = '';
  if (who !== undefined) {
    text += row(
      'who',
      `key "${who.key.name}" (${who.key.id}) of the account "${who.account.name}" (${who.account.id})`,
    );
  }
  if (call !== undefined) text += row('call', describeCall(call));
  for (const { plugin, says, refusal } of plugins) {
    for (const line of says) text += row(plugin, line);
    if (refusal !== undefined) text += row(plugin, `refuses: ${refusal.message} (${refusal.status} ${refusal.code})`);
  }
  for (const offer of offers) for (const line of describeOffer(offer)) text += row('offer', line);
  const first = offers.find(({ asked, refusal }) => asked && refusal === undefined);
  if (refusal !== undefined) text += row('outcome', `refused: ${refusal.status} ${JSON.stringify(refusal.body)}`);
  else if (first !== undefined) text += row('outcome', `goes to ${first.channel}`);
  else text += row('outcome', 'no channel would be tried');
  return text;
}

function describeCall(call: NonNullable<Decision['call']>): string {
  const { style, model, stream, inputBytes, media, outputTokens, choices, characters, seconds, images } = call;
  return [
    `${style}, model "${model}"`,
    stream ? 'a stream' : 'a whole answer',
    `${inputBytes} bytes of input`,
    ...(media > 0 ? [`images, audio or files: ${media}`] : []),
    ...(characters === undefined ? [] : [`${characters} characters to speak`]),
    ...(seconds === undefined ? [] : [`${Math.ceil(seconds)} seconds of audio`]),
    ...(images === undefined ? [] : [describeImages(images)]),
    outputTokens === undefined ? 'no limit of output tokens' : `at most ${outputTokens} output tokens`,
    ...(choices > 1 ? [`${choices} answers`] : []),
  ].join(', ');
}

/** `images to make: 2 (hd, 1024x1024)` */
function describeImages({ count, quality, size }: Images): string {
  const kind = [quality, size].filter((each) => each !== '').join(', ');
  return `images to make: ${count}${kind === '' ? '' : ` (${kind})`}`;
}

function describeOffer(offer: ExplainedOffer): readonly string[] {
  const { channel, model, priced, style, state, asked, path, fetched, refusal } = offer;
  const lines = [
    `${channel}: ${priced} as "${model}", in the style ${style}, POST ${path}; ${state}${asked ? '' : ', not asked'}`,
  ];
  if (refusal !== undefined) {
    lines.push(`${channel}: cannot be translated: ${refusal.message} (${refusal.status} ${refusal.code})`);
  } else {
    lines.push(`${channel}: ${describeBody(offer)}`);
  }
  for (const url of fetched) lines.push(`${channel}: fetches ${url} first`);
  return lines;
}

/** How the client's request is sent to the vendor. */
function describeBody({ changed, written, warnings }: ExplainedOffer): string {
  const lost = warnings.length === 0 ? '' : `; ${warnings.join(', ')}`;
  if (written !== undefined) return `encoded as ${written}${lost}`;
  if (changed === undefined) return `translated, ${warnings.length === 0 ? 'without warnings' : warnings.join(', ')}`;
  return `the client's bytes are forwarded unchanged${changed.length === 0 ? '' : ` except for ${changed.join(', ')}`}${lost}`;
}
