/** Errors and warnings of a configuration, with links to their lines. */
import { Anchor, Code, Text } from '@mantine/core';
import type { ConfigCheck, ConfigRemark } from '../../api/operations.ts';
import { Coded } from '../../parts/coded.tsx';
import { State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';

/** A remark with its position. */
export type Remark = ConfigRemark;
/** The gateway's validation result. */
export type CheckResult = ConfigCheck;

/** The list, errors first. */
export function Remarks({
  verdict: { problems, warnings },
  onJump,
}: {
  readonly verdict: Pick<CheckResult, 'problems' | 'warnings'>;
  onJump(remark: Remark): void;
}) {
  const text = useText();
  const format = useFormat();
  const all = [
    ...problems.map((remark) => ({ remark, isProblem: true })),
    ...warnings.map((remark) => ({ remark, isProblem: false })),
  ];
  if (all.length === 0) return <Text size="sm">{text.noRemarks}</Text>;
  return (
    <ul className="remarks" aria-label={text.remarks}>
      {all.map(({ remark, isProblem }) => (
        <li key={`${remark.line} ${remark.column} ${remark.path} ${remark.message}`}>
          <State tone={isProblem ? 'bad' : 'warn'}>{isProblem ? text.problem : text.warning}</State>
          <Anchor component="button" type="button" size="sm" onClick={() => onJump(remark)}>
            {text.line(format.number(remark.line))}
          </Anchor>
          <Text size="sm" component="span" className="remark-message">
            {remark.path !== '' && (
              <>
                <Code>{remark.path}</Code>{' '}
              </>
            )}
            <span lang="en">
              <Coded>{remark.message}</Coded>
            </span>
          </Text>
        </li>
      ))}
    </ul>
  );
}
