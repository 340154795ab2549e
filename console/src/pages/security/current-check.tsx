/** How long the last second-factor confirmation is valid. */
import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import { State } from '../../parts/values.tsx';
import { askForVerification } from '../../shell/verify-dialog.tsx';
import { useText } from '../../text.ts';
import { Item } from './item.tsx';
import { TEXT } from './text.ts';

/** A row of the section. */
export function CurrentCheck() {
  const { check: text } = useText(TEXT);
  const { data } = useApi('GET /api/verify/status', undefined, { staleTime: 0 });
  const left = useSecondsUntil(data?.expires_at);
  return (
    <Item
      name={text.name}
      state={left > 0 && <State tone="good">{text.valid}</State>}
      actions={
        left === 0 && (
          <Button variant="default" onClick={() => void askForVerification()}>
            {text.now}
          </Button>
        )
      }
    >
      <span className="number" style={{ whiteSpace: 'normal' }}>
        {left > 0 ? text.left(Math.floor(left / 60), left % 60) : text.none}
      </span>
    </Item>
  );
}

/** Counts down to a moment; 0 when it has passed, or without one. */
function useSecondsUntil(unix: number | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  const left = unix === undefined ? 0 : Math.max(0, Math.ceil(unix - now / 1_000));
  const runs = left > 0;
  useEffect(() => {
    setNow(Date.now());
    if (!runs) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [runs]);
  return left;
}
