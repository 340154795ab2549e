/** The figures at the top: balance and cost. */
import { Figure, Money } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import type { Self } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import { type Costs, daysLeft, type Spent } from './costs.ts';
import { TEXT } from './text.ts';

const YEAR_DAYS = 365;

/** The row of figures. */
export function Figures({ self, costs }: { readonly self: Self; readonly costs: Costs | undefined }) {
  const text = useText(TEXT);
  const format = useFormat();
  const unlimited = self.unlimited_quota === true;
  const days = unlimited || self.quota <= 0 ? undefined : daysLeft(self.quota, costs);
  const note = (): string => {
    if (unlimited) return text.noBalance;
    if (self.quota <= 0) return text.nothingLeft;
    return days !== undefined && days < YEAR_DAYS ? text.lasts(format.number(Math.floor(days))) : text.prepaid;
  };
  return (
    <div className="grid-figures home-figures">
      <Figure
        label={text.balance}
        value={<Money units={unlimited ? null : self.quota} />}
        note={note()}
        href="/wallet"
      />
      <SpentFigure label={text.today} sum={costs?.today} to="/usage?range=today" />
      <SpentFigure label={text.week} sum={costs?.week} to="/usage?range=7d" />
      <SpentFigure label={text.month} sum={costs?.month} to="/usage?range=30d" />
    </div>
  );
}

/** The figures of all users, for administrators. */
export function AllUsersFigures({ costs }: { readonly costs: Costs | undefined }) {
  const text = useText(TEXT);
  return (
    <div className="grid-figures home-figures">
      <SpentFigure label={text.everybody.today} sum={costs?.today} to="/team?range=today" />
      <SpentFigure label={text.everybody.week} sum={costs?.week} to="/team?range=7d" />
      <SpentFigure label={text.everybody.month} sum={costs?.month} to="/team?range=30d" />
    </div>
  );
}

function SpentFigure({
  label,
  sum,
  to,
}: {
  readonly label: string;
  readonly sum: Spent | undefined;
  readonly to: string;
}) {
  const text = useText(TEXT);
  const format = useFormat();
  return (
    <Figure
      label={label}
      value={sum === undefined ? '…' : <Money units={sum.quota} />}
      note={sum === undefined ? text.utc : text.requests(format.number(sum.requests))}
      href={to}
    />
  );
}
