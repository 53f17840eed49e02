import { isJsonObject, type JsonObject } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'

/** One context and its cluster, both under that name. */
export interface MergedContext {
  readonly name: string
  readonly cluster: JsonObject
}

export interface OwnEntries {
  /** Names the user; contexts of this user in the file are ours. */
  readonly user: string
  readonly credentials: JsonObject
  /** The first is made current where the file has no current one. */
  readonly contexts: readonly MergedContext[]
}

/**
 * Merges contexts into a kubeconfig that may have others: entries that are not ours stay, including unknown
 * fields; ours that are no longer wanted are removed. Throws ExpectedError if another entry has the name.
 */
export function mergeKubeconfig(existing: unknown, own: OwnEntries, path: string): JsonObject {
  const config: JsonObject = isJsonObject(existing) ? existing : {}
  if (existing !== undefined && existing !== null && !isJsonObject(existing)) {
    throw unusable(path, 'it is not a kubeconfig; pass another --output-file')
  }
  const contexts = entriesOf(config, 'contexts', path)
  const isOurs = (entry: JsonObject): boolean =>
    isJsonObject(entry['context']) && entry['context']['user'] === own.user
  const ownNames = new Set(contexts.filter(isOurs).map(({ name }) => name))
  const wanted = new Set<unknown>(own.contexts.map(({ name }) => name))
  const clusters = entriesOf(config, 'clusters', path)
  for (const { name } of [...contexts, ...clusters]) {
    if (!wanted.has(name) || ownNames.has(name)) continue
    throw unusable(
      path,
      `it has another context or cluster "${String(name)}"; give ours a --prefix`,
    )
  }
  const keeps = ({ name }: JsonObject): boolean => !ownNames.has(name)
  const names = own.contexts.map(({ name }) => name)
  const kept = contexts.filter(keeps)
  const current = config['current-context']
  const isThere = [...kept.map(({ name }) => name), ...names].includes(current ?? '')
  const users = entriesOf(config, 'users', path).filter(({ name }) => name !== own.user)
  return {
    ...config,
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [...clusters.filter(keeps), ...own.contexts],
    contexts: [
      ...kept,
      ...names.map((name) => ({ name, context: { cluster: name, user: own.user } })),
    ],
    users: [...users, { name: own.user, user: own.credentials }],
    'current-context': isThere ? current : (names[0] ?? ''),
  }
}

function entriesOf(config: JsonObject, field: string, path: string): JsonObject[] {
  const list = config[field] ?? []
  if (Array.isArray(list) && list.every(isJsonObject)) return list
  throw unusable(path, `its ${field} are not a list of named entries`)
}

function unusable(path: string, why: string): ExpectedError {
  return new ExpectedError(`Cannot write kubeconfig ${path}: ${why}`, exitCodes.usage)
}
