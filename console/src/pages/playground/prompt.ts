/** The input of the playground, and its storage. Pure. */

/** The APIs for chat. */
export const STYLES = ['chat', 'responses', 'messages'] as const;
/** A value of `STYLES`. */
export type Style = (typeof STYLES)[number];
/** The other tasks of models. */
export const TASKS = ['embeddings', 'images', 'speech', 'transcription'] as const;
/** A value of `TASKS`. */
export type Task = (typeof TASKS)[number];
/** Chat or another task. */
export const KINDS = ['chat', ...TASKS] as const;
/** A value of `KINDS`. */
export type Kind = (typeof KINDS)[number];
/** How a request is encoded. */
export type Endpoint = Style | Task;

/** The paths of the APIs. */
export const PATHS: Readonly<Record<Endpoint, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  embeddings: '/v1/embeddings',
  images: '/v1/images/generations',
  speech: '/v1/audio/speech',
  transcription: '/v1/audio/transcriptions',
};

/** The reasoning effort; empty: the model's default. */
export const EFFORTS = ['', 'low', 'medium', 'high'] as const;
/** A value of `EFFORTS`. */
export type Effort = (typeof EFFORTS)[number];

/** An image. */
export interface Picture {
  readonly name: string;
  /** `data:image/png;base64,…` */
  readonly url: string;
}

/** A turn of the user or the model. */
export interface Turn {
  /** A stable key for React. */
  readonly id: number;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly pictures: readonly Picture[];
}

/** The whole input. */
export interface Prompt {
  readonly system: string;
  readonly turns: readonly Turn[];
  /** JSON as text; empty: none. */
  readonly tools: string;
  /** A JSON Schema as text; empty: none. */
  readonly schema: string;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly effort: Effort;
  readonly stream: boolean;
  /** The input of tasks other than chat. */
  readonly text: string;
  readonly size: string;
  readonly voice: string;
  readonly format: string;
}

/** The initial input. */
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

/** Appends a turn. */
export function withTurn(prompt: Prompt, turn: Omit<Turn, 'id'>): Prompt {
  const id = Math.max(0, ...prompt.turns.map((each) => each.id)) + 1;
  return { ...prompt, turns: [...prompt.turns, { id, ...turn }] };
}

/** Appends the answer as a turn, and an empty user turn. */
export function continued(prompt: Prompt, answer: string): Prompt {
  const turns = prompt.turns.filter(({ text, pictures }) => text.trim() !== '' || pictures.length > 0);
  const withAnswer = withTurn({ ...prompt, turns }, { role: 'assistant', text: answer, pictures: [] });
  return withTurn(withAnswer, { role: 'user', text: '', pictures: [] });
}

/** The input as JSON for the storage, without images because they are too large. */
export function storedText(prompt: Prompt, owner: number): string {
  const turns = prompt.turns.map((turn) => ({ ...turn, pictures: [] }));
  return JSON.stringify({ owner, prompt: { ...prompt, turns } });
}

/** The stored input of an account; invalid data counts as none. */
export function parseStored(stored: string | null, owner: number): Prompt {
  let parsed: { readonly owner?: unknown; readonly prompt?: Readonly<Record<string, unknown>> } | null;
  try {
    parsed = JSON.parse(stored ?? 'null');
  } catch {
    return EMPTY;
  }
  if (parsed?.owner !== owner || typeof parsed.prompt !== 'object' || parsed.prompt === null) return EMPTY;
  const input = parsed.prompt;
  const own = Object.entries(EMPTY).map(([name, empty]) => [name, fits(name, input[name]) ? input[name] : empty]);
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
