/** Names in gateway.yaml. */

/** A name as a YAML scalar, also within brackets: quoted if YAML would not read it as text. */
export function yamlName(name: string): string {
  const isPlain = /^[A-Za-z][\w./-]*$/.test(name) && !/^(?:true|false|null|yes|no|on|off)$/i.test(name);
  return isPlain ? name : JSON.stringify(name);
}
