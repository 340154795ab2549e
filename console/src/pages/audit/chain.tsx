/** The hash chain of the audit log: verified in steps, with progress. */
import { Alert, Group, Progress, Stack, Text } from '@mantine/core';
import { IconCheck, IconLinkOff } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { call, type Data } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { Section } from '../../parts/page.tsx';
import { PlainButton } from '../../parts/plain.tsx';
import { Copy, Snippet } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';

type ChainPart = Data<'GET /api/audit/chain'>;

/** The section of the page. */
export function Chain() {
  const text = useText(TEXT);
  const format = useFormat();
  const [piece, setPiece] = useState<ChainPart>();
  const mounted = useRef(true);
  useEffect(() => {
    mounted.current = true;
    return () => {
      mounted.current = false;
    };
  }, []);
  const check = useAction(async () => {
    setPiece(undefined);
    for (let after = 0; mounted.current; ) {
      const next = await call('GET /api/audit/chain', { search: { after } });
      setPiece(next);
      if (next.broken !== null || next.checked >= next.total) return;
      after = next.checked;
    }
  });
  return (
    <Section
      title={text.chain}
      actions={
        <PlainButton loading={check.isPending} onClick={() => check.mutate()}>
          {piece === undefined ? text.chainCheck : text.chainAgain}
        </PlainButton>
      }
    >
      <Stack gap="sm">
        <Text size="sm" maw="52rem">
          {text.chainAbout}
        </Text>
        <div aria-live="polite">
          {piece !== undefined && check.isPending && (
            <>
              <Text size="sm">{text.chainBusy(format.number(piece.checked), format.number(piece.total))}</Text>
              <Progress
                value={(piece.checked / Math.max(1, piece.total)) * 100}
                aria-label={text.chainBusy(format.number(piece.checked), format.number(piece.total))}
              />
            </>
          )}
          {piece !== undefined && !check.isPending && <ChainResult piece={piece} />}
        </div>
        <div>
          <Text size="sm">{text.chainCommand}</Text>
          <Snippet label={text.chainCommand} code="turnpike audit verify --head SEQ:HASH" />
        </div>
      </Stack>
    </Section>
  );
}

function ChainResult({ piece: { broken, total, head } }: { readonly piece: ChainPart }) {
  const text = useText(TEXT);
  const format = useFormat();
  if (broken !== null) {
    return (
      <Alert color="red" icon={<IconLinkOff />} title={text.chainBroken(format.number(broken.seq), broken.why)}>
        {text.chainBrokenAbout}
      </Alert>
    );
  }
  return (
    <Stack gap="xs">
      <Group gap={6}>
        <IconCheck size={18} aria-hidden />
        <Text size="sm" fw={600}>
          {text.chainWhole(format.number(total))}
        </Text>
      </Group>
      <div>
        <Text size="sm">{text.chainHead}</Text>
        <Copy value={head} what={text.chainHead} />
      </div>
    </Stack>
  );
}
