/** How a scenario is answered in one style. */
import type { JsonObject } from '../../core/contracts/formats/json.ts';

/** The shapes that vendors speak. */
export type SpeechName = 'chat' | 'responses' | 'messages' | 'gemini';

/** One answer. Texts and arguments stand in the pieces in which a stream brings them. */
export interface Scenario {
  readonly reasoning?: readonly string[];
  readonly text?: readonly string[];
  readonly calls?: readonly ScenarioCall[];
  /** The model declines, in these words. */
  readonly refusal?: readonly string[];
  readonly end: 'stop' | 'tools' | 'length' | 'refusal';
  /** In tokens; `input` includes what was `cached`, `output` what went into `reasoning`. */
  readonly usage: {
    readonly input: number;
    readonly cached: number;
    readonly output: number;
    readonly reasoning: number;
  };
}

export interface ScenarioCall {
  /** Its id but for the prefix that its vendor gives to ids. */
  readonly id: string;
  readonly name: string;
  /** JSON text of an object. */
  readonly pieces: readonly string[];
  /** A vendor that may leave out the id does so. */
  readonly anonymous?: boolean;
}

/** How one shape says all that. */
export interface Speech {
  /** The id that the vendor gives a call; undefined where it gives none. */
  callId(call: ScenarioCall): string | undefined;
  whole(scenario: Scenario, request: JsonObject): JsonObject;
  /** Whole events, blank line included. */
  events(scenario: Scenario, request: JsonObject): readonly string[];
  /** The body of an answer of this status. */
  error(status: number, message: string): JsonObject;
  /** The vendor gives up in the middle of a stream. */
  errorEvent(message: string): string;
}
