/** Sentences with pieces of code in them, as they are written: between backticks. */
import { Code } from '@mantine/core';

/** The sentence; what stands between backticks is shown as code. */
export function Coded({ children }: { readonly children: string }) {
  const pieces = children.split('`');
  // A single backtick is only that.
  if (pieces.length % 2 === 0) return <>{children}</>;
  return (
    <>
      {pieces.map((piece, at) =>
        at % 2 === 0 ? (
          piece
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a sentence have no other name
          <Code key={at}>{piece}</Code>
        ),
      )}
    </>
  );
}
