/** What somebody has typed into the playground, and how it outlives a look at another page. Pure. */

/** The styles that a conversation is sent in. */
export const STYLES = ['chat', 'responses', 'messages'] as const;
/** One of them. */
export type Style = (typeof STYLES)[number];
/** What else models are for. */
export const TASKS = ['embeddings', 'images', 'speech', 'transcription'] as const;
/** One of them. */
export type Task = (typeof TASKS)[number];
/** What is tried: a conversation, or one of the others. */
export const KINDS = ['chat', ...TASKS] as const;
/** One of them. */
export type Kind = (typeof KINDS)[number];
/** How a call is spelled. */
export type Way = Style | Task;

/** Where each is asked. */
export const PATHS: Readonly<Record<Way, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  embeddings: '/v1/embeddings',
  images: '/v1/images/generations',
  speech: '/v1/audio/speech',
  transcription: '/v1/audio/transcriptions',
};

/** How much a model shall think; empty: as it does by itself. */
export const EFFORTS = ['', 'low', 'medium', 'high'] as const;
/** One of them. */
export type Effort = (typeof EFFORTS)[number];

/** A picture that goes along. */
export interface Picture {
  readonly name: string;
  /** `data:image/png;base64,…` */
  readonly url: string;
}

/** What one of the two says. */
export interface Turn {
  /** Stays the same while others come and go. */
  readonly id: number;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly pictures: readonly Picture[];
}

/** All that was typed. */
export interface Prompt {
  readonly system: string;
  readonly turns: readonly Turn[];
  /** JSON as typed; empty: none. */
  readonly tools: string;
  /** A JSON schema as typed; empty: the answer is free. */
  readonly schema: string;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly effort: Effort;
  readonly stream: boolean;
  /** For all that is no conversation: what is to be drawn, spoken, or made a vector of. */
  readonly text: string;
  readonly size: string;
  readonly voice: string;
  readonly format: string;
}

/** Nothing yet. */
export const EMPTY: Prompt = {
  system: '',
  turns: [{ id: 1, role: 'user', text: '', pictures: [] }],
  tools: '',
  schema: '',
  temperature: null,
  maxTokens: null,
  effort: '',
  stream: true,
  text: '',
  size: '',
  voice: 'alloy',
  format: 'mp3',
};

/** With another turn at its end. */
export function withTurn(prompt: Prompt, turn: Omit<Turn, 'id'>): Prompt {
  const id = Math.max(0, ...prompt.turns.map((each) => each.id)) + 1;
  return { ...prompt, turns: [...prompt.turns, { id, ...turn }] };
}

/** With what the model said as its turn, and room for the next of whoever asks. */
export function goneOn(prompt: Prompt, said: string): Prompt {
  const turns = prompt.turns.filter(({ text, pictures }) => text.trim() !== '' || pictures.length > 0);
  const answered = withTurn({ ...prompt, turns }, { role: 'assistant', text: said, pictures: [] });
  return withTurn(answered, { role: 'user', text: '', pictures: [] });
}

/** As text, without pictures: they would not fit. */
export function keptText(prompt: Prompt, owner: number): string {
  const turns = prompt.turns.map((turn) => ({ ...turn, pictures: [] }));
  return JSON.stringify({ owner, prompt: { ...prompt, turns } });
}

/** What was kept for that account; what is not as it should be is as if nothing had been typed. */
export function readKept(kept: string | null, owner: number): Prompt {
  let said: { readonly owner?: unknown; readonly prompt?: Readonly<Record<string, unknown>> } | null;
  try {
    said = JSON.parse(kept ?? 'null');
  } catch {
    return EMPTY;
  }
  if (said?.owner !== owner || typeof said.prompt !== 'object' || said.prompt === null) return EMPTY;
  const found = said.prompt;
  const own = Object.entries(EMPTY).map(([name, usual]) => [name, fits(name, found[name]) ? found[name] : usual]);
  return Object.fromEntries(own) as unknown as Prompt;
}

function fits(name: string, value: unknown): boolean {
  if (name === 'turns') return Array.isArray(value) && value.length > 0 && value.every(isTurn);
  if (name === 'temperature' || name === 'maxTokens') return value === null || typeof value === 'number';
  if (name === 'effort') return EFFORTS.some((effort) => effort === value);
  return typeof value === typeof EMPTY[name as keyof Prompt];
}

function isTurn(value: unknown): value is Turn {
  const turn = value as Partial<Turn> | null;
  return (
    typeof turn === 'object' &&
    turn !== null &&
    typeof turn.id === 'number' &&
    (turn.role === 'user' || turn.role === 'assistant') &&
    typeof turn.text === 'string' &&
    Array.isArray(turn.pictures)
  );
}
