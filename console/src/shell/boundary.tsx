/** Keeps a part that breaks from taking the console with it. */
import { Alert, Button, Stack, Text } from '@mantine/core';
import { Component, type ReactNode, useEffect } from 'react';
import { useLocation } from 'wouter';
import { call } from '../api/client.ts';
import { texts, useText } from '../text.ts';
import { NotFetched } from './fetched.tsx';

const TEXT = texts(
  {
    broken: 'This page crashed',
    about: 'Completed actions are saved. Include the message below when you report this.',
    reload: 'Reload',
    absent: 'This page could not be loaded',
    absentAbout:
      'The gateway does not answer, or it was updated since the console was opened. The page reloads as soon as it answers.',
  },
  {
    broken: '页面出错',
    about: '没有丢失任何内容：之前的操作都已生效。下面的信息有助于修复。',
    reload: '重新加载',
    absent: '无法获取此页面',
    absentAbout: '网关没有响应，或在控制台打开之后已更新。网关恢复响应后，页面会自动重新加载。',
  },
);

/** Around the page; another address tries anew. */
export function PageBoundary({ children }: { readonly children: ReactNode }) {
  const [path] = useLocation();
  return (
    <Boundary key={path} instead={(error) => <Broken error={error} />}>
      {children}
    </Boundary>
  );
}

/** Around all of the console: what breaks outside of a page leaves no empty one. */
export function ConsoleBoundary({ children }: { readonly children: ReactNode }) {
  return <Boundary instead={(error) => <Broken error={error} />}>{children}</Boundary>;
}

interface BoundaryProps {
  readonly children: ReactNode;
  /** What is shown in its place; nothing without it. */
  instead?(error: Error): ReactNode;
  onBroken?(): void;
}

/** Around anything. */
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
  const text = useText(TEXT);
  const absent = error instanceof NotFetched;
  useEffect(() => (absent ? reloadOnceThere() : undefined), [absent]);
  return (
    <Alert color="red" title={absent ? text.absent : text.broken}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{absent ? text.absentAbout : text.about}</Text>
        <Text size="sm" ff="monospace">
          {error.message}
        </Text>
        <Button variant="default" onClick={() => location.reload()}>
          {text.reload}
        </Button>
      </Stack>
    </Alert>
  );
}

const RELOADED = 'turnpike.reloaded';
const LOOK_MS = 2_000;
const NOT_AGAIN_MS = 60_000;

/** Loads everything anew as soon as the gateway answers; once, for what is missing then as well stays away. Ends with what it returns. */
function reloadOnceThere(): () => void {
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
