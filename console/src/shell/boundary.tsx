/** Error boundaries: an error in a part does not break the console. */
import { Alert, Stack, Text } from '@mantine/core';
import { Component, type ReactNode, useEffect } from 'react';
import { useLocation } from 'wouter';
import { call } from '../api/client.ts';
import { PlainButton } from '../parts/page.tsx';
import { texts } from '../text.ts';
import { NotFetched } from './fetched.tsx';

const useText = texts({
  broken: ['This page crashed', '页面出错'],
  about: [
    'Completed actions are saved. Include the message below when you report this.',
    '已完成的操作均已保存。报告此问题时，请附上下面的信息。',
  ],
  absent: ['This page could not be loaded', '无法加载此页面'],
  absentAbout: [
    'The gateway does not respond, or it was updated after you opened the console. The page reloads when the gateway responds.',
    '网关没有响应，或在控制台打开之后已更新。网关恢复响应后，页面会自动重新加载。',
  ],
});

/** Around the page; navigation resets it. */
export function PageBoundary({ children }: { readonly children: ReactNode }) {
  const [path] = useLocation();
  return (
    <Boundary key={path} instead={(error) => <Broken error={error} />}>
      {children}
    </Boundary>
  );
}

/** Around the whole console. */
export function ConsoleBoundary({ children }: { readonly children: ReactNode }) {
  return <Boundary instead={(error) => <Broken error={error} />}>{children}</Boundary>;
}

interface BoundaryProps {
  readonly children: ReactNode;
  /** Shown in place of the content; nothing without it. */
  instead?(error: Error): ReactNode;
  onBroken?(): void;
}

/** A general boundary. */
export class Boundary extends Component<BoundaryProps, { readonly error: Error | undefined }> {
  override state: { readonly error: Error | undefined } = { error: undefined };
  static getDerivedStateFromError(error: Error) {
    return { error };
  }
  override componentDidCatch(): void {
    this.props.onBroken?.();
  }
  override render(): ReactNode {
    const { error } = this.state;
    return error === undefined ? this.props.children : this.props.instead?.(error);
  }
}

function Broken({ error }: { readonly error: Error }) {
  const text = useText();
  const absent = error instanceof NotFetched;
  useEffect(() => (absent ? reloadOnResponse() : undefined), [absent]);
  return (
    <Alert color="red" title={absent ? text.absent : text.broken}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{absent ? text.absentAbout : text.about}</Text>
        <Text size="sm" ff="monospace">
          {error.message}
        </Text>
        <PlainButton onClick={() => location.reload()}>{text.words.reload}</PlainButton>
      </Stack>
    </Alert>
  );
}

const RELOADED = 'turnpike.reloaded';
const LOOK_MS = 2_000;
const NOT_AGAIN_MS = 60_000;

/** Reloads the console when the gateway responds; only once, because a missing file may stay missing. Stops when the returned function is called. */
function reloadOnResponse(): () => void {
  const timer = setInterval(() => {
    if (Date.now() - Number(sessionStorage.getItem(RELOADED)) < NOT_AGAIN_MS) return;
    call('GET /api/status').then(
      () => {
        sessionStorage.setItem(RELOADED, `${Date.now()}`);
        location.reload();
      },
      () => {},
    );
  }, LOOK_MS);
  return () => clearInterval(timer);
}
