/** Leaves out metadata.managedFields of a YAML text, as a server writes it: with two spaces a level. Pure. */
export function withoutManagedFields(yaml: string): string {
  let isInside = false
  let isMetadata = false
  const kept = yaml.split('\n').filter((line) => {
    if (/^\S/.test(line)) isMetadata = line.startsWith('metadata:')
    if (isInside && /^(?: {3,}| {2}- |- |\s*$)/.test(line)) return false
    isInside = isMetadata && /^ {2}managedFields:/.test(line)
    return !isInside
  })
  return kept.join('\n')
}
