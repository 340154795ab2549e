/** A gateway whose people are administered: root and one administrator with a second factor just shown, another one, a member. */
import {
  CONSOLE_PIPELINE,
  member,
  PASSWORD,
  PATIENT,
  ROOT_ENV,
  root,
  type Visitor,
  verify,
} from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { readRows } from '../../kit/gateway/rows.ts';
import { fakeVendor } from '../../kit/vendors/fake-vendor.ts';

/** It, and who is there. */
export interface Administered {
  readonly gateway: TestGateway;
  /** Root, and an administrator. */
  readonly boss: Visitor;
  readonly adam: Visitor;
  /** A member with 1,000 quota units. */
  readonly mia: Visitor;
  /** Of all of them and of `eve`, an administrator who is not here, by name. */
  readonly ids: Readonly<Record<string, number>>;
  /** The row of an account and what hangs on it, as the store has them. */
  stored(id: number): unknown;
  /** A fresh member; their name is `u1`, `u2` … */
  someone(more?: Readonly<Record<string, unknown>>): Promise<{ readonly id: number; readonly name: string }>;
  stop(): Promise<void>;
}

/** Starts it. */
export async function administered(): Promise<Administered> {
  const vendor = await fakeVendor();
  const config = { pipeline: CONSOLE_PIPELINE, console: PATIENT };
  const gateway = await startGateway({ vendor, config, env: ROOT_ENV });
  const boss = await verify(await root(gateway));
  const adam = await verify(await member(gateway, 'adam', { role: 'admin' }));
  const mia = await member(gateway, 'mia', { units: 1_000 });
  await gateway.command('user create --name eve --role admin --password-stdin', PASSWORD);
  const ids: Record<string, number> = {};
  const { items } = await boss.data('GET', '/api/user/?page_size=100');
  for (const { id, username } of items) ids[username] = id;
  let made = 0;
  return {
    gateway,
    boss,
    adam,
    mia,
    ids,
    stored(id) {
      return readRows(
        gateway.storeFile,
        `SELECT * FROM account WHERE id = ${id}`,
        `SELECT * FROM password WHERE account_id = ${id}`,
        `SELECT * FROM bucket WHERE kind = 'account' AND owner = ${id}`,
        `SELECT * FROM membership WHERE account_id = ${id}`,
      );
    },
    async someone(more = {}) {
      const name = `u${++made}`;
      const { id } = await boss.data('POST', '/api/user/', { username: name, password: PASSWORD, ...more });
      return { id, name };
    },
    async stop() {
      await gateway.stop();
      await vendor.close();
    },
  };
}
