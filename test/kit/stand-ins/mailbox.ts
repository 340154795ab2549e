/** Mail that stays here: the plugin `mail` for tests, with letters that can be waited for. */
import { type Letter, Mail } from '../../../core/contracts/mail.ts';
import { definePlugin, type Plugin, type Sections } from '../../../core/plugin.ts';

/** Where letters end up. */
export interface Mailbox {
  /** In the place of the plugin `mail`. */
  readonly plugin: Plugin<Sections>;
  readonly letters: readonly Letter[];
  /** Resolves with the next letter that nobody has waited for. */
  letter(): Promise<Letter>;
}

/** An empty one. */
export function mailbox(): Mailbox {
  const letters: Letter[] = [];
  const waiting: ((letter: Letter) => void)[] = [];
  let read = 0;
  const plugin = definePlugin({
    name: 'mailbox',
    api: 2,
    provides: [Mail],
    create(host) {
      host.provide(Mail, {
        delivers: true,
        async send(letter) {
          letters.push(letter);
          const next = waiting.shift();
          if (next === undefined) return;
          read++;
          next(letter);
        },
      });
      return {};
    },
  });
  return {
    plugin,
    letters,
    letter() {
      const letter = letters[read];
      if (letter === undefined) return new Promise((resolve) => waiting.push(resolve));
      read++;
      return Promise.resolve(letter);
    },
  };
}
