/** All services of the contracts, for a test that uses a gateway from inside. */
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Alerts } from '../../../core/contracts/alerts.ts';
import { Audit } from '../../../core/contracts/audit.ts';
import { Catalog } from '../../../core/contracts/catalog.ts';
import { ChosenKeys } from '../../../core/contracts/chosen-keys.ts';
import { Counters } from '../../../core/contracts/counters.ts';
import { Departments } from '../../../core/contracts/departments.ts';
import { Explaining } from '../../../core/contracts/explaining.ts';
import { FirstStart } from '../../../core/contracts/first-start.ts';
import { Groups } from '../../../core/contracts/groups.ts';
import { Invitations } from '../../../core/contracts/invitations.ts';
import { KeyCheck } from '../../../core/contracts/key-check.ts';
import { KeyPlaces } from '../../../core/contracts/key-places.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { Ledger } from '../../../core/contracts/ledger.ts';
import { Mail } from '../../../core/contracts/mail.ts';
import { OAuth } from '../../../core/contracts/oauth.ts';
import { Payments } from '../../../core/contracts/payments.ts';
import { Prices } from '../../../core/contracts/prices.ts';
import { Prompts } from '../../../core/contracts/prompts.ts';
import { Records } from '../../../core/contracts/records.ts';
import { Running } from '../../../core/contracts/running.ts';
import { SecondFactors } from '../../../core/contracts/second-factors.ts';
import { Sessions, Tickets } from '../../../core/contracts/sessions.ts';
import { Site } from '../../../core/contracts/site.ts';
import { Subscriptions } from '../../../core/contracts/subscriptions.ts';
import type { Service } from '../../../core/plugin.ts';

export const SERVICES: readonly Service<unknown>[] = [
  Accounts,
  Alerts,
  Audit,
  Catalog,
  ChosenKeys,
  Counters,
  Departments,
  Explaining,
  FirstStart,
  Groups,
  Invitations,
  KeyCheck,
  KeyPlaces,
  Keys,
  Ledger,
  Mail,
  OAuth,
  Payments,
  Prices,
  Prompts,
  Records,
  Running,
  SecondFactors,
  Sessions,
  Tickets,
  Site,
  Subscriptions,
];
