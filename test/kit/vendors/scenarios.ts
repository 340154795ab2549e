/** What a vendor says, free of any style: the same answers can be spoken in all four, whole and streamed, by one fake vendor. */

import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { complaintAbout } from '../contracts/request-rules.ts';
import type { Scenario, Speech, SpeechName } from '../speech.ts';
import { chatSpeech } from './chat-speech.ts';
import type { Answer, VendorRequest } from './fake-vendor.ts';
import { geminiSpeech } from './gemini-speech.ts';
import { messagesSpeech } from './messages-speech.ts';
import { responsesSpeech } from './responses-speech.ts';
import { eventStream, type HeaderFields, jsonAnswer, type Move, type Script } from './script.ts';

export const SPEECHES: Readonly<Record<SpeechName, Speech>> = {
  chat: chatSpeech,
  responses: responsesSpeech,
  messages: messagesSpeech,
  gemini: geminiSpeech,
};

/** The answers that every client should read alike from every vendor. */
export const SCENARIOS = {
  text: {
    text: ['Hello', ' from Zü', 'rich', ' 👋', '.'],
    end: 'stop',
    usage: { input: 120, cached: 100, output: 7, reasoning: 0 },
  },
  reasoning: {
    reasoning: ['They say', ' hello;', ' I say it, too.'],
    text: ['Hello', ' yourself.'],
    end: 'stop',
    usage: { input: 130, cached: 64, output: 25, reasoning: 18 },
  },
  call: {
    text: ['I will', ' look it up.'],
    calls: [{ id: 'w1', name: 'get_weather', pieces: ['{"city":"Zü', 'rich",', '"days":3}'], anonymous: true }],
    end: 'tools',
    usage: { input: 210, cached: 0, output: 31, reasoning: 0 },
  },
  calls: {
    reasoning: ['Two things', ' to find out.'],
    calls: [
      { id: 'w2', name: 'get_weather', pieces: ['{"city":', '"Oslo","days"', ':1}'] },
      { id: 't2', name: 'get_time', pieces: ['{"city":"R', 'ome"}'] },
    ],
    end: 'tools',
    usage: { input: 220, cached: 128, output: 60, reasoning: 9 },
  },
  length: {
    text: ['Once upon', ' a'],
    end: 'length',
    usage: { input: 90, cached: 0, output: 4, reasoning: 0 },
  },
  refusal: {
    refusal: ['I will not', ' do that.'],
    end: 'refusal',
    usage: { input: 80, cached: 0, output: 6, reasoning: 0 },
  },
  /** What comes after the results of the calls. */
  summary: {
    text: ['It', ' rains.'],
    end: 'stop',
    usage: { input: 260, cached: 200, output: 3, reasoning: 0 },
  },
} satisfies Readonly<Record<string, Scenario>>;

/** The secret by which the vendor knows the gateway. */
export interface Picky {
  readonly key: string;
}

/** A vendor that gives this answer in whatever shape it is asked; like a real one it refuses what it does not understand. */
export function says(scenario: Scenario, { key }: Picky): Answer {
  return (request) => {
    const { speech, body, stream, complaint } = heard(request, key);
    if (complaint !== undefined) return jsonAnswer(400, speech.error(400, `The vendor minds: ${complaint}`));
    return stream ? eventStream(speech.events(scenario, body)) : jsonAnswer(200, speech.whole(scenario, body));
  };
}

/** A vendor that refuses with this status. */
export function failsWith(status: number, message: string, headers: HeaderFields = {}): Answer {
  return (request) => jsonAnswer(status, SPEECHES[speechAt(request.path)].error(status, message), headers);
}

/** A vendor whose stream stops when so many pieces of the text are said, and then makes these moves; or says that it gives up. */
export function breaksOff(scenario: Scenario, pieces: number, moves?: readonly Move[]): Answer {
  return (request): Script => {
    const speech = SPEECHES[speechAt(request.path)];
    const events = speech.events(scenario, request.json);
    const last = scenario.text?.[pieces - 1];
    const begun =
      last === undefined ? [] : events.slice(0, 1 + events.findIndex((event) => event.includes(`"${last}"`)));
    return eventStream([...begun, ...(moves ?? [speech.errorEvent('The vendor gives up.')])]);
  };
}

/** Which shape is spoken at a path of the vendor's. */
export function speechAt(path: string): SpeechName {
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.endsWith('/responses')) return 'responses';
  if (/\/messages(\?|$)/.test(path)) return 'messages';
  if (/\/models\/[^/]+:(generateContent|streamGenerateContent\?alt=sse)$/.test(path)) return 'gemini';
  throw new Error(`Nobody speaks at ${path}.`);
}

/** What a request means to the vendor. */
export interface Heard {
  readonly style: SpeechName;
  readonly speech: Speech;
  readonly body: JsonObject;
  readonly stream: boolean;
  /** Why a real vendor would refuse it. */
  readonly complaint: string | undefined;
}

export function heard(request: VendorRequest, key: string): Heard {
  const style = speechAt(request.path);
  const body = request.json;
  const stream = style === 'gemini' ? request.path.includes(':stream') : body.stream === true;
  return { style, speech: SPEECHES[style], body, stream, complaint: complaintAbout(style, request, key) };
}
