/** `turnpike completion`: scripts that complete commands, options and values in a shell, without running the command. */

import type { CommandWords } from '../assembly/core-commands.ts';
import { nearest } from '../helpers/nearest.ts';
import { optionsOf, wordsOf } from '../operations/commands/command-line.ts';
import { UsageError } from '../plugin.ts';

const SHELLS: Readonly<Record<string, (facts: Facts) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** The script for a shell. Throws `UsageError` for an unknown one. */
export function completionScript(shell: string, commands: readonly CommandWords[]): string {
  const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (script !== undefined) return script(factsOf(commands));
  const near = nearest(shell, Object.keys(SHELLS));
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  throw new UsageError(`SHELL must be one of ${Object.keys(SHELLS).join(', ')}, not "${shell}"${hint}`);
}

/** The words that can follow. Commands are named by all their words; the empty name is `turnpike` itself. */
interface Facts {
  /** Words and options after a command, or a part of one. */
  readonly next: ReadonlyMap<string, readonly string[]>;
  /** Commands that take files. */
  readonly files: readonly string[];
  /** Words after an option: `key create --name`; undefined: a file. Options with other values have none. */
  readonly values: ReadonlyMap<string, readonly string[] | undefined>;
}

const takesFile = (text: string): boolean => /\b(FILE|FOLDER|DIRECTORY)\b/.test(text);

function factsOf(commands: readonly CommandWords[]): Facts {
  const next = new Map<string, string[]>();
  const values = new Map<string, readonly string[] | undefined>();
  const add = (name: string, word: string): void => {
    const words = next.get(name) ?? [];
    if (!words.includes(word)) next.set(name, [...words, word]);
  };
  for (const command of commands) {
    const words = command.name.split(' ');
    words.forEach((word, i) => {
      add(words.slice(0, i).join(' '), word);
      if (command.name !== 'help') add(`help ${words.slice(0, i).join(' ')}`.trimEnd(), word);
    });
    for (const [name, option] of Object.entries(optionsOf(command))) {
      if (option.internal === true) continue;
      add(command.name, `--${name}`);
      if (option.type === 'boolean') continue;
      const isFile = option.value !== undefined && takesFile(option.value);
      values.set(`${command.name} --${name}`, isFile ? undefined : (wordsOf(option) ?? []));
    }
    for (const word of ['--config', '--help']) add(command.name, word);
    if (command.name === 'completion') for (const shell of Object.keys(SHELLS)) add(command.name, shell);
  }
  const files = commands.filter(({ positionals = [] }) => positionals.some(takesFile)).map(({ name }) => name);
  return { next, files, values };
}

/** A list as a pattern of `case`; an empty one matches nothing. */
const pattern = (texts: readonly string[]): string => texts.map((text) => `"${text}"`).join('|') || '""';

function bashScript({ next, files, values }: Facts): string {
  const names = [...next.keys()].filter((name) => name !== '');
  const ofFile = [...values].filter(([, words]) => words === undefined).map(([option]) => option);
  const ofWords = [...values].filter(([, words]) => words !== undefined);
  return `# Completion of turnpike for bash.
_turnpike() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" name="" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${name:+$name }\${COMP_WORDS[i]}" in
      ${pattern(names)}) name="\${name:+$name }\${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "$name $prev" in
    *" --config"|${pattern(ofFile)}) _turnpike_files "$cur"; return ;;
${ofWords.map(([option, words]) => `    "${option}") COMPREPLY=($(compgen -W "${words!.join(' ')}" -- "$cur")); return ;;\n`).join('')}  esac
  case "$name" in
${[...next].map(([name, words]) => `    "${name}") words="${words.join(' ')}" ;;\n`).join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  case "$name" in
    ${pattern(files)}) [[ "$cur" == -* ]] || _turnpike_files "$cur" ;;
  esac
}
_turnpike_files() {
  local IFS=$'\\n'
  COMPREPLY+=($(compgen -f -- "$1"))
  type compopt >/dev/null 2>&1 && compopt -o filenames 2>/dev/null
}
complete -F _turnpike turnpike
`;
}

/** zsh runs completions of bash. */
function zshScript(facts: Facts): string {
  return `autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${bashScript(facts)}`;
}

function fishScript({ next, files, values }: Facts): string {
  const names = [...next.keys()].filter((name) => name !== '');
  const quoted = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(' ');
  return `# Completion of turnpike for fish.
function __turnpike_name
    set -l name
    for word in (commandline -opc)[2..]
        if contains -- (string join ' ' $name $word) ${quoted(names)}
            set name (string join ' ' $name $word)
        end
    end
    echo "$name"
end
function __turnpike_words
    set -l name (__turnpike_name)
    set -l prev (commandline -opc)[-1]
    if test "$prev" = --config
        __fish_complete_path (commandline -ct)
        return
    end
    switch "$name $prev"
${[...values].map(([option, words]) => `        case '${option}'\n            ${words === undefined ? '__fish_complete_path (commandline -ct)' : words.length === 0 ? 'true' : `printf '%s\\n' ${words.join(' ')}`}\n            return\n`).join('')}    end
    switch "$name"
${[...next].map(([name, words]) => `        case '${name}'\n            printf '%s\\n' ${words.join(' ')}\n`).join('')}    end
    if contains -- "$name" ${quoted(files)}
        __fish_complete_path (commandline -ct)
    end
end
complete -c turnpike -f -a '(__turnpike_words)'
`;
}
