/**
 * What one upstream model takes, and how: data, so that a model that is a little different needs no code. The keys are those of
 * `quirks:` in gateway.yaml. What a style usually is stands with the style, what a vendor's models are with the vendor.
 */
import type { StyleName } from './call.ts';

/** Everything about one upstream model. */
export interface Quirks {
  /** The only style to be spoken where the client's own cannot be. */
  readonly style?: StyleName;
  readonly roles: {
    /** Whether `developer` is known, or becomes `system`. */
    readonly developer: 'keep' | 'system';
    /** Instructions in the middle: as they are, moved to the front, or told by the user in a wrapper. */
    readonly mid_system: 'native' | 'front' | 'user_wrap';
    /** Turns of one side that follow each other become one. */
    readonly merge_same: boolean;
    /** Several instructions at the front become one. */
    readonly merge_system: boolean;
    /** The user has to speak first. */
    readonly first_user: boolean;
  };
  readonly content: {
    /** False: content must be a string. */
    readonly array: boolean;
    /** Images inside tool results: there, in a message of the user's behind them, or not at all. */
    readonly tool_result_images: 'native' | 'user_message' | 'drop';
  };
  readonly image: {
    /** An image given by its address: passed on, fetched by us, or refused. */
    readonly url: 'native' | 'fetch' | 'refuse';
    /** Whether the model takes images, for the catalog; undefined: unknown. */
    readonly input?: boolean;
    /** Media types that are taken; undefined: any. */
    readonly types?: readonly string[];
  };
  readonly file: {
    readonly pdf: 'native' | 'image_url' | 'refuse';
    readonly url: 'native' | 'fetch' | 'refuse';
    /** Beginnings of addresses, those of images among them, that the vendor itself can always read. */
    readonly native_urls: readonly string[];
  };
  readonly audio: { readonly input: boolean; readonly output: boolean };
  readonly embeddings: {
    /** Whether the size of a vector can be asked for; a number: up to this one. */
    readonly dimensions: boolean | number;
    /** Vectors can be asked for in base64; else the gateway writes them so. */
    readonly base64: boolean;
    /** The most texts of one request. */
    readonly max_inputs: number;
  };
  readonly images: {
    /** How requests are written: with `prompt` and `size`, or with `input` and `parameters`. */
    readonly form: 'plain' | 'structured';
    /** How images that are to be edited are sent: as files of a form, or in JSON by their addresses (`data:` ones among them). */
    readonly edits: 'form' | 'json';
    /** What can be asked for with `response_format`; else that is what always comes, and the field is not sent. */
    readonly answers: 'any' | 'url' | 'b64_json';
    /** The most images of one request. */
    readonly max: number;
  };
  readonly speech: {
    /** The voices it has. */
    readonly voices: 'any' | readonly string[];
  };
  readonly tools: {
    /** Longest name, and the characters it may have (a regular expression for the whole name). */
    readonly name_max: number;
    readonly name_pattern: string;
    readonly id_max: number;
    readonly id_pattern: string;
    /** `strict` is known. */
    readonly strict: boolean;
    /** Tools called with free text are known; else they are wrapped in a function. */
    readonly custom: boolean;
    /** One call at a time can be asked for. */
    readonly parallel_flag: boolean;
    /**
     * An empty list of tools is taken, and sent where the conversation has calls but no tools: some servers want it then. For
     * vendors of the style `chat`.
     */
    readonly empty_array_ok: boolean;
    /** How schemas are written. For vendors whose style knows both ways; in the styles of clients they are JSON Schema. */
    readonly schema_dialect: 'json_schema' | 'openapi_subset';
    /** Whether `anyOf`, `oneOf`, `allOf`, `not` and `enum` are taken at the top level of a schema; else it becomes one plain object. */
    readonly root_union: boolean;
    /** A call can be forced while the model thinks. */
    readonly force_with_thinking: boolean;
    /** Web search as the vendor's own tool. */
    readonly web_search: boolean;
  };
  readonly reasoning: {
    /** How thinking is asked for. `adaptive`: the model decides, an effort may be named. */
    readonly input: 'none' | 'effort' | 'budget' | 'level' | 'adaptive';
    /** The words it knows for effort; `none` among them: it can be told not to think. */
    readonly levels: readonly string[];
    readonly budget_min: number;
    readonly budget_max: number;
    /** Whether thoughts of earlier turns must be sent back: never, in turns with tool calls, or always. */
    readonly echo: 'none' | 'tool_turns' | 'all';
    /** What stands for a thought that is lost; empty: nothing can, for thoughts are sealed. */
    readonly echo_filler: string;
    /** The member that thoughts have in a message. For vendors of the style `chat`. */
    readonly field: 'reasoning_content' | 'reasoning' | 'reasoning_details';
    /** Who can read a signature again: every channel of the style, or only the one that gave it. */
    readonly signature_scope: 'provider' | 'credential_group';
  };
  readonly output: {
    readonly json_object: boolean;
    readonly json_schema: boolean;
    readonly schema_with_tools: boolean;
  };
  readonly limits: {
    /** The most tokens of an answer; sent where the style demands a limit and the client sets none. */
    readonly max_output?: number;
    readonly max_tokens_field: 'max_tokens' | 'max_completion_tokens';
    readonly min_output: number;
    /** The context window in tokens, for `truncation: auto`. */
    readonly context?: number;
  };
  readonly sampling: {
    /** The sampling fields it takes: `temperature`, `top_p`, `top_k`, `seed`, `presence_penalty`, `frequency_penalty`, `logit_bias`, `logprobs`. */
    readonly allowed: readonly string[];
    readonly temp_max: number;
    /** Only one of temperature and top_p. */
    readonly temp_xor_top_p: boolean;
  };
  /** The conversation may end with the beginning of the answer. */
  readonly prefill: boolean;
  readonly stop: {
    /** How many it takes; 0: the gateway looks for them itself, 16 of 256 characters at most. */
    readonly max: number;
    /** They must stand in a list, one alone as well; else one alone is sent as a string. */
    readonly array_only: boolean;
  };
  readonly cache: { readonly hint: 'none' | 'cache_control' | 'breakpoint' | 'key' };
  readonly stream: {
    /** How its streams tell their usage; undefined: as the channel says. */
    readonly usage?: 'include_usage' | 'always' | 'never';
    /**
     * They lack what clients of the same style need: each is read and written again instead of being passed on. A stream between two
     * styles always is.
     */
    readonly rewrite: boolean;
  };
  /** Top-level fields of the vendor's body, last before sending: left out, called otherwise, set. */
  readonly drop_fields: readonly string[];
  readonly rename_fields: Readonly<Record<string, string>>;
  readonly set_fields: Readonly<Record<string, unknown>>;
}

/** Some of it. */
export type SomeQuirks = {
  readonly [K in keyof Quirks]?: Quirks[K] extends readonly unknown[] | string | boolean | undefined
    ? Quirks[K]
    : K extends 'rename_fields' | 'set_fields'
      ? Quirks[K]
      : Partial<Quirks[K]>;
};
