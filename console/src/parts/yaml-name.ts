/** Names as they stand in gateway.yaml. */

/** A name as YAML takes it for text, between brackets as well: in quotes where it would be read as something else. */
export function yamlName(name: string): string {
  const isPlain = /^[A-Za-z][\w./-]*$/.test(name) && !/^(?:true|false|null|yes|no|on|off)$/i.test(name);
  return isPlain ? name : JSON.stringify(name);
}
