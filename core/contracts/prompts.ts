/** Stored prompts and answers of calls: who may read them, and when they are deleted. Provided by the plugin `prompts`. */

import type { Actor } from './audit.ts';
import { service } from './definitions.ts';
import type { FinishReason } from './formats/conversation.ts';
import type { Account } from './identity.ts';
import type { Step } from './store.ts';

/** A piece of a message, in the order in which it was sent. */
export interface StoredBlock {
  /**
   * `media`: an image, audio or a file; only its name is stored. `data`: JSON that has no other form here, such as what a
   * tool of the vendor did.
   */
  readonly type: 'text' | 'reasoning' | 'refusal' | 'tool_call' | 'tool_result' | 'media' | 'data';
  /** The text; arguments of a tool call; the result of a tool; of media its type (`image/png`), its URL or its id; JSON. */
  readonly text: string;
  /** The name of a tool or a file, or the type of the data. */
  readonly name?: string;
  /** The id of the tool call, or of the call that a result belongs to. */
  readonly id?: string;
  /** How large media is, if the request or the answer had it in itself. */
  readonly bytes?: number;
  /** Bytes of the text that are not stored, because the call has more than is stored of one. */
  readonly cutBytes?: number;
  /** The tool failed. */
  readonly isError?: true;
}

/** One message of a conversation. */
export interface StoredMessage {
  readonly role: string;
  /** The speaker's name, if the request has one. */
  readonly name?: string;
  readonly blocks: readonly StoredBlock[];
}

/** An answer. */
export interface StoredAnswer {
  readonly blocks: readonly StoredBlock[];
  /** Why it ended; undefined: it broke off, or the reason is unknown. */
  readonly finish?: FinishReason;
}

/** The request of a call and its answer, as they are at the plugin's place in the pipeline. */
export interface StoredContent {
  readonly messages: readonly StoredMessage[];
  /** How many messages before them are not stored, because the call has more than is stored of one. */
  readonly earlierMessages: number;
  /** Definitions of tools, as JSON by name. */
  readonly tools: readonly StoredBlock[];
  /** Parameters of the request, as JSON. */
  readonly parameters?: StoredBlock;
  /** Undefined: none came, or it is of a kind that is not stored. */
  readonly answer?: StoredAnswer;
  /** The parts of the request that the messages omit, as warnings name them (`Content.omitted`). */
  readonly omitted: readonly string[];
}

/** The reader. */
export interface ContentReader {
  readonly account: Account;
  /** The same for the audit log. */
  readonly actor: Actor;
  /** Only calls of this account are looked for. */
  readonly ownOnly: boolean;
}

/** Stored prompts and answers. */
export interface Prompts {
  /** Whether anything is stored of a call that this reader may read. */
  isReadable(callId: string, reader: Omit<ContentReader, 'actor'>): Promise<boolean>;
  /**
   * Opens what is stored of a call. If the reader is not its account, the audit log has an entry of it before this resolves. Refuses with 404
   * `content_not_found` if nothing is stored, and with 403 `content_not_allowed` if the reader has no right to it.
   */
  read(callId: string, reader: ContentReader): Promise<StoredContent>;
  /** The steps that delete the stored and the queued contents of an account or of keys, for the list that deletes these. */
  deleteSteps(owner: { readonly account: number } | { readonly keys: readonly number[] }): readonly Step[];
}
/** The service `Prompts`. */
export const Prompts = service<Prompts>('prompts');
