/** Sign-in with an account elsewhere in gateways of several configurations, and with time that passes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { member, said, visitor } from '../../kit/console/console.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { CLIENT, startOidc } from '../../kit/stand-ins/fake-oauth.ts';
import { ORIGIN, oidc, PAGE, pathOf, signIn, start, thereAndBack, visit } from './oauth-flows.ts';

describe('sign-in with an account elsewhere, where it is not so easy', () => {
  it('a state is good for ten minutes [T-OAUTH-01]', async () => {
    const clock = fakeClock(Date.now());
    const timed = await start({}, { clock });
    try {
      for (const [minutes, outcome] of [
        [599, 200],
        [601, 400],
      ] as const) {
        const who = visitor(timed);
        const back = await thereAndBack(who, 'github', { subject: '1004', name: 'rita' });
        clock.advance(minutes * 1_000);
        assert.equal((await who.get(pathOf(back))).status, outcome, `${minutes} s`);
      }
    } finally {
      await timed.stop();
    }
  });

  it('makes no accounts where nobody may make one', async () => {
    for (const registration of ['closed', 'invite']) {
      const gateway = await start({ registration });
      try {
        const refused = await signIn(visitor(gateway), 'github', { subject: '2001', name: 'jon' });
        assert.equal(said(refused), '403 registration_closed');
        const jon = await member(gateway, 'jon');
        await signIn(jon, 'github', { subject: '2001', name: 'jon' }, '?intent=bind');
        assert.equal(
          (await signIn(visitor(gateway), 'github', { subject: '2001', name: 'jon' })).body.data.username,
          'jon',
        );
      } finally {
        await gateway.stop();
      }
    }
  });

  it('wants an e-mail address that is proven, where every account has one', async () => {
    const gateway = await start({ emailProof: true });
    const kim = { subject: '2002', name: 'kim', email: 'kim@example.com' };
    try {
      const refused = await signIn(visitor(gateway), 'github', { ...kim, emailVerified: false });
      assert.equal(said(refused), '403 email_wanted');
      assert.equal((await signIn(visitor(gateway), 'github', { ...kim, emailVerified: true })).status, 200);
      const taken = await signIn(visitor(gateway), 'corp', { ...kim, emailVerified: true });
      assert.equal(said(taken), '409 email_taken');
    } finally {
      await gateway.stop();
    }
  });

  it('says so where the provider does not play along, and asks again the next time', async () => {
    const late = await startOidc([`${ORIGIN}/api/oauth/late`]);
    late.close();
    const gateway = await start({
      oauth: { late: { ...CLIENT, issuer: late.issuer }, wrong: { ...CLIENT, issuer: `${oidc.issuer}/nothing` } },
    });
    try {
      assert.equal(said(await visitor(gateway).get('/api/oauth/late')), '502 oauth_provider_failed');
      assert.equal(said(await visitor(gateway).get('/api/oauth/wrong')), '502 oauth_provider_failed');
      const { location } = await visit(gateway, visitor(gateway), '/api/oauth/late', PAGE);
      assert.equal(location, `${ORIGIN}/console/login?error=oauth_provider_failed`);
      assert.ok(
        gateway.log.some((line) => line.includes('a sign-in failed at its provider')),
        'whoever runs it can see why',
      );
    } finally {
      await gateway.stop();
    }
  });

  it('says what is wrong in gateway.yaml', async () => {
    for (const [oauth, where] of [
      [{ corp: CLIENT }, /console\.oauth\.corp\.issuer/],
      [{ corp: { ...CLIENT } }, /issuer/],
      [{ github: { id: 'x' } }, /console\.oauth\.github\.secret/],
      [{ state: { ...CLIENT, issuer: 'https://id.example.com' } }, /console\.oauth\.state/],
      [{ email: { ...CLIENT, issuer: 'https://id.example.com' } }, /console\.oauth\.email/],
      [{ passkey: { ...CLIENT, issuer: 'https://id.example.com' } }, /console\.oauth\.passkey/],
    ] as const) {
      await assert.rejects(start({ oauth }), where);
    }
  });
});
