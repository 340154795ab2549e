// What the package may contain: for `npm run release`, and its test.

/** The files that are expected. */
const EXPECTED = [
  /^(package\.json|LICENSE|README\.md|CHANGELOG\.md|gateway\.yaml)$/,
  /^(core|plugins)\/([\w-]+\/)*[\w-]+\.md$/,
  /^core\/schema\.json$/,
  /^console\/dist\/(\.stamp|index\.html|third-party\.json|[\w.-]+\.(svg|png|webmanifest)(\.(br|gz))?)$/,
  /^console\/dist\/assets\/[\w-]+\.(js|css|svg|png|woff2)(\.(br|gz))?$/,
  /^dist\/package\/THIRD-PARTY\.txt$/,
  /^dist\/package\/js\/([\w-]+\/)*[\w.-]+\.js$/,
  /^dist\/package\/types\/([\w-]+\/)*[\w-]+\.d\.ts$/,
  /^dist\/package\/server\/(package\.json|[\w.-]+\.(js|cjs|mjs)|packages\/[\w-]+\.js)$/,
  /^scripts\/(README\.md|compiled-load\.mjs|server-load\.mjs|turnpike\.mjs|typescript\.mjs)$/,
  /^scripts\/scaffold\/[\w-]+\/[\w-]+(\.test)?\.ts$/,
  /^scripts\/deploy\/((README|first-hour)\.md|Caddyfile|Dockerfile(\.dockerignore)?|[\w-]+\.(yaml|mjs|service)|nginx\/[\w-]+\.conf|grafana\/[\w-]+\.json|prometheus\/[\w-]+\.yaml)$/,
  // What the documentation in the package links to: to read, and not to run.
  /^core\/(plugin|contracts\/(formats\/)?[\w-]+)\.ts$/,
  /^plugins\/(styles|vendors\/gemini)\/([\w-]+\/)*[\w-]+\.ts$/,
  /^plugins\/console\/(routes\/([\w-]+\/)?[\w-]+|format\/schemas|static)\.ts$/,
  /^test\/(e2e\/authors\/[\w.-]+\.mjs|plugins\/outside\/[\w-]+\.ts|browser\/first-hour\.browser\.test\.ts|kit\/console\/(world|browser)\.ts|e2e\/documents\/readme-kit\.ts)$/,
  /^(\.github|console|console\/recipes|scripts\/bench|test)\/[\w-]+\.md$/,
  /^console\/pictures\/[\w-]+\.webp$/,
  /^scripts\/bench\/([\w-]+\.c|loop-probe\.mjs)$/,
];

/** Contents that are secrets or come from the machine that made the package. */
const SECRETS = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----\n[A-Za-z0-9+/]/, 'a private key'],
  [/\bsk-[A-Za-z0-9]{40,}/, 'an API key'],
  [/\/\/# sourceMappingURL=(?!data:)\S+\.map\b/, 'a reference to a source map'],
];

/** What is wrong with a file of the package, one sentence each. `folder`: where the package was made, which no file may name. */
export function surprises(file, text, folder) {
  const found = SECRETS.filter(([pattern]) => pattern.test(text)).map(([, what]) => `${file} contains ${what}`);
  if (!EXPECTED.some((pattern) => pattern.test(file))) found.push(`${file} is not expected`);
  if (text.includes(folder)) found.push(`${file} names the folder ${folder}`);
  return found;
}
