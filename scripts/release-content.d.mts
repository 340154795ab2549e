/** What is wrong with a file of the package, one sentence each. `folder`: where the package was made, which no file may name. */
export function surprises(file: string, text: string, folder: string): readonly string[];
