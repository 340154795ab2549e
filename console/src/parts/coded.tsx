/** Sentences with code between backticks. */
import { Code } from '@mantine/core';

/** Renders a sentence; text between backticks is shown as code. */
export function Coded({ children }: { readonly children: string }) {
  const pieces = children.split('`');
  // A single backtick is literal.
  if (pieces.length % 2 === 0) return <>{children}</>;
  return (
    <>
      {pieces.map((piece, at) =>
        at % 2 === 0 ? (
          piece
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a sentence have no ID
          <Code key={at}>{piece}</Code>
        ),
      )}
    </>
  );
}
