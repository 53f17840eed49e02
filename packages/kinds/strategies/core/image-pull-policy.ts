const tagAtEnd = /:([\w][\w.-]{0,127})$/
const validImage =
  /^(?:[a-zA-Z0-9.-]+(?::\d+)?\/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?(?:@[A-Za-z0-9+._-]+:[0-9a-fA-F]{32,})?$/

/** An image that may change (tag latest, or none at all) is pulled each time, any other once. */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  if (!validImage.test(image)) return 'IfNotPresent'
  const [name = '', digest] = image.split('@')
  const tag = tagAtEnd.exec(name)?.[1] ?? (digest === undefined ? 'latest' : '')
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}
