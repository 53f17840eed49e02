type Fields = Record<string, unknown>

/**
 * Returns the compared parts of an OpenAPI document: operations, and the definitions of custom resources.
 * Sentences are left out, because we take over upstream's facts and not its sentences; definitions in every
 * document of the server are compared by name.
 */
export function comparableOpenApi(document: Fields): Fields {
  const { components } = document
  const schemas =
    isFields(components) && isFields(components['schemas']) ? components['schemas'] : {}
  const entries = Object.entries(schemas)
  const own = entries.filter(([name]) => !name.startsWith('io.k8s.'))
  return {
    openapi: document['openapi'],
    info: document['info'],
    paths: withoutSentences(document['paths']),
    schemas: withoutSentences(Object.fromEntries(own)),
    otherSchemas: entries.map(([name]) => name).filter((name) => name.startsWith('io.k8s.')),
  }
}

export function isOpenApi(value: Fields): boolean {
  return typeof value['openapi'] === 'string'
}

function withoutSentences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSentences)
  if (!isFields(value)) return value
  const entries = Object.entries(value).filter(
    ([key, member]) => key !== 'description' || typeof member !== 'string',
  )
  return Object.fromEntries(entries.map(([key, member]) => [key, withoutSentences(member)]))
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
