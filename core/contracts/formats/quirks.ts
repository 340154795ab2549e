/**
 * Capabilities and peculiarities of an upstream model as data, so that a slightly different model needs no code. The
 * keys are those of `quirks:` in gateway.yaml. Styles define the defaults of their models, vendors those of theirs.
 */
import type { StyleName } from '../definitions.ts';

/** All quirks of one upstream model. */
export interface Quirks {
  /** The only style to translate to if the client's own is not supported. */
  readonly style?: StyleName;
  /** The styles in which its vendor serves it; undefined: all that the channel has. */
  readonly styles?: readonly StyleName[];
  readonly roles: {
    /** Whether the role `developer` is supported; otherwise it becomes `system`. */
    readonly developer: 'keep' | 'system';
    /** Instructions in the middle of the conversation: unchanged, moved to the front, or wrapped in a user message. */
    readonly mid_system: 'native' | 'front' | 'user_wrap';
    /** Consecutive turns of one role are joined. */
    readonly merge_same: boolean;
    /** Several instructions at the front are joined. */
    readonly merge_system: boolean;
    /** The first turn must be the user's. */
    readonly first_user: boolean;
  };
  readonly content: {
    /** False: content must be a string. */
    readonly array: boolean;
    /** Images inside tool results: supported, moved to a following user message, or not supported. */
    readonly tool_result_images: 'native' | 'user_message' | 'drop';
  };
  readonly image: {
    /** An image given by its URL: forwarded, fetched by the gateway, or refused. */
    readonly url: 'native' | 'fetch' | 'refuse';
    /** Whether the model accepts images, for the catalog; undefined: unknown. */
    readonly input?: boolean;
    /** Accepted media types; undefined: any. */
    readonly types?: readonly string[];
  };
  readonly file: {
    readonly pdf: 'native' | 'image_url' | 'refuse';
    readonly url: 'native' | 'fetch' | 'refuse';
    /** URL prefixes, for images too, that the vendor can always read itself. */
    readonly native_urls: readonly string[];
  };
  readonly audio: { readonly input: boolean; readonly output: boolean };
  readonly embeddings: {
    /** Whether the size of a vector can be set; a number: the maximum. */
    readonly dimensions: boolean | number;
    /** Base64 vectors are supported; otherwise the gateway encodes them. */
    readonly base64: boolean;
    /** The maximum number of texts per request. */
    readonly max_inputs: number;
  };
  readonly images: {
    /** The request format: with `prompt` and `size`, or with `input` and `parameters`. */
    readonly form: 'plain' | 'structured';
    /** How images to edit are sent: as multipart files, or as URLs in JSON (`data:` URLs included). */
    readonly edits: 'form' | 'json';
    /** Supported values of `response_format`; otherwise the only format returned, and the field is not sent. */
    readonly answers: 'any' | 'url' | 'b64_json';
    /** The maximum number of images per request. */
    readonly max: number;
  };
  readonly speech: {
    /** Supported voices. */
    readonly voices: 'any' | readonly string[];
  };
  readonly tools: {
    /** Maximum length of a name, and its allowed characters (a regular expression for the whole name). */
    readonly name_max: number;
    readonly name_pattern: string;
    readonly id_max: number;
    readonly id_pattern: string;
    /** `strict` is supported. */
    readonly strict: boolean;
    /** Strict schemas must be closed and require every property; `strict` is turned off for others, also for answers. */
    readonly strict_required: boolean;
    /** Custom tools (free-text input) are supported; otherwise they are wrapped in a function. */
    readonly custom: boolean;
    /** Parallel tool calls can be disabled. */
    readonly parallel_flag: boolean;
    /**
     * An empty list of tools is accepted, and sent if the conversation has tool calls but no tools, as some servers
     * require. For vendors of the style `chat`.
     */
    readonly empty_array_ok: boolean;
    /** Whether a schema may have `anyOf`, `oneOf`, `allOf`, `not`, `enum` at its top level; otherwise flattened. */
    readonly root_union: boolean;
    /** A tool call can be forced while reasoning is enabled. */
    readonly force_with_thinking: boolean;
    /** The styles in which it can call tools and reason in one request; undefined: all. */
    readonly thinking_styles?: readonly StyleName[];
    /** Web search as a vendor-side tool. */
    readonly web_search: boolean;
  };
  readonly reasoning: {
    /** How reasoning is requested. `adaptive`: the model decides, an effort may be given. */
    readonly input: 'none' | 'effort' | 'budget' | 'level' | 'adaptive';
    /** Supported values of effort; `none` among them: reasoning can be disabled. */
    readonly levels: readonly string[];
    /** It reasons although the request says nothing about it. */
    readonly unasked: boolean;
    readonly budget_min: number;
    readonly budget_max: number;
    /**
     * Whether reasoning of earlier turns must be sent back: no, in turns with tool calls, or always. `never`: it is refused, also if a client of
     * the same style sends it.
     */
    readonly echo: 'never' | 'none' | 'tool_turns' | 'all';
    /** Placeholder for lost reasoning; empty: impossible, because reasoning is encrypted. */
    readonly echo_filler: string;
    /** The message field for reasoning. For vendors of the style `chat`. */
    readonly field: 'reasoning_content' | 'reasoning' | 'reasoning_details';
    /** Where a signature is valid: at every channel of the style, or only at the one that returned it. */
    readonly signature_scope: 'provider' | 'credential_group';
    /** Reasoning is bound to everything before it, and the vendor can be told to drop what no longer fits instead of refusing the request. */
    readonly binding: boolean;
  };
  readonly output: {
    readonly json_object: boolean;
    readonly json_schema: boolean;
    readonly schema_with_tools: boolean;
  };
  readonly limits: {
    /** The maximum output tokens; sent if the style requires a limit and the client sets none. */
    readonly max_output?: number;
    readonly max_tokens_field: 'max_tokens' | 'max_completion_tokens';
    readonly min_output: number;
    /** The context window in tokens, for `truncation: auto`. */
    readonly context?: number;
  };
  readonly sampling: {
    /**
     * Supported sampling fields: `temperature`, `top_p`, `top_k`, `seed`, `presence_penalty`, `frequency_penalty`,
     * `logit_bias`, `logprobs`.
     */
    readonly allowed: readonly string[];
    readonly temp_max: number;
    /** Only one of temperature and top_p is accepted. */
    readonly temp_xor_top_p: boolean;
  };
  /**
   * Prefill: the conversation may end with the beginning of the answer. `restarts`: it may, but the answer does not continue it. False: the
   * beginning is removed.
   */
  readonly prefill: boolean | 'restarts';
  /** It returns several whole answers to one request (`n`) of another style. */
  readonly choices: boolean;
  /** The vendor keeps conversations, which requests of the style `messages` continue by `thread`. */
  readonly threads: boolean;
  readonly stop: {
    /** Maximum number of stop sequences; 0: the gateway detects them itself, at most 16 of 256 characters. */
    readonly max: number;
    /** They must be a list even if there is only one; otherwise a single one is sent as a string. */
    readonly array_only: boolean;
  };
  readonly cache: { readonly hint: 'none' | 'cache_control' | 'breakpoint' | 'key' };
  readonly stream: {
    /** How streams report usage; undefined: the channel's setting. */
    readonly usage?: 'include_usage' | 'always' | 'never';
    /**
     * Streams lack what clients of the same style need: every event is decoded and encoded again instead of being
     * forwarded. A stream between two styles always is.
     */
    readonly rewrite: boolean;
  };
  /** Top-level fields of the vendor's body, changed last before sending: removed, renamed, set. */
  readonly drop_fields: readonly string[];
  readonly rename_fields: Readonly<Record<string, string>>;
  readonly set_fields: Readonly<Record<string, unknown>>;
  /**
   * Top-level fields with which clients may choose what serves: `models`, `route`, `provider` and their like. They are removed unless they are
   * named here, because the price and the models of a key are those of `model`.
   */
  readonly routing_fields: readonly string[];
}

/** A part of it. */
export type SomeQuirks = {
  readonly [K in keyof Quirks]?: Quirks[K] extends readonly unknown[] | string | boolean | undefined
    ? Quirks[K]
    : K extends 'rename_fields' | 'set_fields'
      ? Quirks[K]
      : Partial<Quirks[K]>;
};
