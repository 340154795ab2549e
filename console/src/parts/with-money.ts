/** A message of the gateway in which an amount of quota units is followed by what it is in money: `194.5 quota ($0.000389)`. */
export function withMoney(message: string, money: (units: number) => string): string {
  return message.replaceAll(
    /\b(\d+(?:\.\d+)?) quota\b/g,
    (amount, units: string) => `${amount} (${money(Number(units))})`,
  );
}
