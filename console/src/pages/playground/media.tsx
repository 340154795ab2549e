/** Answers other than text: images, audio, vectors. */
import { Anchor, Group, Table, Text } from '@mantine/core';
import { Small } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import { useAnswerText } from './answer-text.ts';

/** Image types that browsers display without running scripts. */
const DRAWN = /^data:image\/(png|jpeg|webp|gif|avif);base64,[A-Za-z0-9+/=\s]+$/;

/** Images. Remote ones are not loaded; a link opens them. */
export function Pictures({ urls }: { readonly urls: readonly string[] }) {
  const text = useAnswerText();
  return urls.map((url, index) => {
    const at = index + 1;
    if (DRAWN.test(url))
      return (
        // biome-ignore lint/suspicious/noArrayIndexKey: images are only appended
        <figure key={index} className="pg-figure">
          <img src={url} alt={text.picture(at)} />
          <Anchor href={url} download={`picture-${at}.${url.slice(11, url.indexOf(';'))}`} size="sm">
            {text.keep}
          </Anchor>
        </figure>
      );
    return /^https?:\/\//i.test(url) ? (
      <Anchor key={url} href={url} target="_blank" rel="noreferrer noopener" size="sm">
        {text.openImage}
      </Anchor>
    ) : null;
  });
}

/** Audio; empty: none. */
export function Sound({ url, format }: { readonly url: string; readonly format: string }) {
  const text = useAnswerText();
  if (url === '') return null;
  return (
    <Group gap="sm">
      {/* biome-ignore lint/a11y/useMediaCaption: the spoken text is in the field above */}
      <audio controls src={url} aria-label={text.sound} className="pg-sound" />
      <Anchor href={url} download={`speech.${format}`} size="sm">
        {text.keepSound}
      </Anchor>
    </Group>
  );
}

const SHOWN_NUMBERS = 96;
const MOST_COMPARED = 8;

/** Vectors: their first dimensions, and the similarity of several. */
export function Vectors({ vectors }: { readonly vectors: readonly (readonly number[])[] }) {
  const text = useAnswerText();
  const format = useFormat();
  if (vectors.length === 0) return null;
  const compared = vectors.slice(0, MOST_COMPARED);
  const write = new Intl.NumberFormat(format.locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return (
    <>
      <Text size="sm">{text.vectors(format.number(vectors.length), format.number(vectors[0]?.length ?? 0))}</Text>
      {compared.map((vector, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the items have no ID
        <div key={index}>
          {vectors.length > 1 && <Small>{text.vector(index + 1)}</Small>}
          <Bars vector={vector} label={vectors.length > 1 ? text.vector(index + 1) : text.oneVector} />
          <pre className="pg-json">
            [
            {vector
              .slice(0, 6)
              .map((number) => number.toFixed(4))
              .join(', ')}
            {vector.length > 6 ? ', …' : ''}]
          </pre>
        </div>
      ))}
      {compared.length > 1 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be focusable
        <section className="table-frame" aria-label={text.likeness} tabIndex={0}>
          <Table>
            <Table.Caption>{text.likeness}</Table.Caption>
            <Table.Thead>
              <Table.Tr>
                <Table.Td />
                {compared.map((_, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the items have no ID
                  <Table.Th key={index} ta="right" scope="col">
                    {text.line(index + 1)}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {compared.map((vector, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the items have no ID
                <Table.Tr key={index}>
                  <Table.Th scope="row">{text.line(index + 1)}</Table.Th>
                  {compared.map((other, at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the items have no ID
                    <Table.Td key={at} ta="right" className="number">
                      {write.format(likeness(vector, other))}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </section>
      )}
    </>
  );
}

/** The first dimensions as bars. */
function Bars({ vector, label }: { readonly vector: readonly number[]; readonly label: string }) {
  const first = vector.slice(0, SHOWN_NUMBERS);
  const most = Math.max(...first.map(Math.abs), 1e-9);
  const bars = first.map((number, index) => `M${index * 8} 20h6v${(-number / most) * 19}h-6z`).join('');
  return (
    <svg
      className="pg-bars"
      viewBox={`0 0 ${SHOWN_NUMBERS * 8} 40`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path d={`M0 19.5h${SHOWN_NUMBERS * 8}v1H0z`} opacity={0.3} />
      <path d={bars} />
    </svg>
  );
}

/** The cosine similarity of two vectors. */
function likeness(vector: readonly number[], other: readonly number[]): number {
  let [dot, length, width] = [0, 0, 0];
  for (const [at, number] of vector.entries()) {
    dot += number * (other[at] ?? 0);
    length += number * number;
    width += (other[at] ?? 0) ** 2;
  }
  return length === 0 || width === 0 ? 0 : dot / Math.sqrt(length * width);
}
