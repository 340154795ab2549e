/** Log probabilities in the format of chat clients. */
import type { Json, JsonObject } from '../../../core/plugin.ts';
import { member, objectsIn, textIn } from '../../../core/translation/index.ts';

/** `[{token, logprob, bytes, top_logprobs}]`; undefined if there are none. */
export function logprobsIn(candidate: Json | undefined): readonly Json[] | undefined {
  const result = member(candidate, 'logprobsResult');
  const chosen = objectsIn(result, 'chosenCandidates');
  if (chosen.length === 0) return undefined;
  const top = objectsIn(result, 'topCandidates');
  return chosen.map((token, i) => ({
    ...entry(token),
    top_logprobs: objectsIn(top[i], 'candidates').map(entry),
  }));
}

function entry(candidate: JsonObject): JsonObject {
  const token = textIn(candidate, 'token') ?? '';
  const logprob = member(candidate, 'logProbability');
  return { token, logprob: typeof logprob === 'number' ? logprob : 0, bytes: [...Buffer.from(token)] };
}
