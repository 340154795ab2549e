/** Gateways on one store know which of them run with another gateway.yaml. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareConfigurations, digestOf } from '../../core/cluster/configurations.ts';
import { createPeers } from '../kit/peers.ts';

describe('the configurations of gateways on one store', () => {
  it('are compared as they run at that moment', async () => {
    const { peers } = createPeers(3);
    const texts = ['limits: {}', 'limits: {}', 'limits: {}'];
    const differing = peers.map((each, i) =>
      compareConfigurations(each, () => ({ gateway: `host-${i}:8080`, digest: digestOf(texts[i]!) })),
    );
    const all = (): Promise<readonly (readonly string[])[]> => Promise.all(differing.map((find) => find()));
    assert.deepEqual(await all(), [[], [], []]);
    texts[1] = 'limits: { concurrent: 1 }';
    assert.deepEqual(await all(), [['host-1:8080'], ['host-0:8080', 'host-2:8080'], ['host-1:8080']]);
    texts[0] = texts[1];
    texts[2] = texts[1];
    assert.deepEqual(await all(), [[], [], []]);
  });
});
