/** The description of the key at the pointer or cursor. */
import { Code, Text } from '@mantine/core';
import { Coded } from '../../parts/coded.tsx';
import { Fact } from '../../parts/facts.tsx';
import { Muted, Section, Small } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import type { PointedPosition } from './code-pane.tsx';
import { type Facts, factsAt, type Schema } from './facts.ts';
import type { Path } from './marks.ts';
import type { Remark } from './remarks.tsx';
import { spelledPath } from './spelled-path.ts';
import { useText } from './text.ts';

/** The panel. A screen reader announces it when the key changes. */
export function KeyFacts({
  pointed,
  schema,
  remarks,
}: {
  readonly pointed: PointedPosition | undefined;
  readonly schema: Schema | undefined;
  /** The content of the panel. */
  readonly remarks: readonly Remark[];
}) {
  const text = useText();
  return (
    <Section title={text.key}>
      <div className="key-facts" aria-live="polite">
        {pointed === undefined || schema === undefined ? (
          <Muted>{text.keyNone}</Muted>
        ) : (
          <Content
            pointed={pointed}
            facts={factsAt(schema, pointed.path)}
            remarks={remarks.filter(({ path }) => path === spelledPath(pointed.path))}
          />
        )}
      </div>
    </Section>
  );
}

function Content({
  pointed: { path, reference },
  facts,
  remarks,
}: {
  readonly pointed: PointedPosition;
  readonly facts: Facts;
  readonly remarks: readonly Remark[];
}) {
  const text = useText();
  const referenceText = useReference();
  const name = nameOf(path);
  const above = spelledPath(
    path.slice(
      0,
      path.findLastIndex((step) => typeof step === 'string'),
    ),
  );
  return (
    <>
      <Text fw={600} ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
        {name}
      </Text>
      {above !== '' && (
        <Small style={{ overflowWrap: 'anywhere' }}>
          {text.inside} {above}
        </Small>
      )}
      <Text size="sm" mt="xs">
        {facts.kind === 'unknown' ? (
          text.keyUnknown
        ) : (
          <Coded>{facts.description ?? (facts.kind === 'own' ? text.keyOwn : text.keyNoDescription)}</Coded>
        )}
        {facts.required && ` ${text.required}`}
      </Text>
      {reference !== undefined && (
        <Text size="sm" mt="xs">
          {text.reference}: <Code>{reference}</Code> {referenceText(reference)}
        </Text>
      )}
      <Details facts={facts} />
      {remarks.map(({ message }) => (
        <Text key={message} size="sm" mt="xs" c="var(--mantine-color-error)">
          <Coded>{message}</Coded>
        </Text>
      ))}
    </>
  );
}

function Details({ facts }: { readonly facts: Facts }) {
  const text = useText();
  const range = useRange(facts);
  const examples = facts.examples.filter((example) => example !== facts.defaultValue);
  const types =
    facts.title ?? facts.types.map((type) => text.types[type as keyof typeof text.types] ?? type).join(text.or);
  return (
    <dl className="facts key-details">
      {types !== '' && <Fact name={text.words.type}>{types}</Fact>}
      {facts.allowed.length > 0 && (
        <Fact name={text.allowed}>
          <Codes values={facts.allowed} />
        </Fact>
      )}
      {facts.defaultValue !== undefined && (
        <Fact name={text.usual}>
          <Codes values={[facts.defaultValue]} />
        </Fact>
      )}
      {range !== undefined && <Fact name={text.range}>{range}</Fact>}
      {examples.length > 0 && facts.allowed.length === 0 && (
        <Fact name={text.examples}>
          <Codes values={examples} />
        </Fact>
      )}
    </dl>
  );
}

function Codes({ values }: { readonly values: readonly string[] }) {
  return (
    <span className="key-codes">
      {values.map((value) => (
        <Code key={value}>{value}</Code>
      ))}
    </span>
  );
}

function useRange({ least, above, most }: Facts): string | undefined {
  const text = useText();
  const format = useFormat();
  if (least !== undefined && most !== undefined) return text.between(format.number(least), format.number(most));
  if (least !== undefined) return text.least(format.number(least));
  if (above !== undefined) return text.above(format.number(above));
  return most === undefined ? undefined : text.most(format.number(most));
}

/** Explains a `${…}` reference. */
function useReference(): (reference: string) => string {
  const { referenceOf } = useText();
  return (reference) => {
    const [, path] = /^\$\{file:(.*)\}$/.exec(reference) ?? [];
    if (path !== undefined) return referenceOf.file(path);
    const [, name = '', defaultValue] = /^\$\{([^}:]*)(?::-(.*))?\}$/.exec(reference) ?? [];
    return defaultValue === undefined ? referenceOf.variable(name) : referenceOf.usual(name, defaultValue);
  };
}

/** The last name of a path; for a list item, with its index. */
function nameOf(path: Path): string {
  const at = path.findLastIndex((step) => typeof step === 'string');
  return spelledPath(path.slice(Math.max(0, at)));
}
