import { isJsonObject, type JsonObject } from '@skerry/api'
import type { ApiAnswer } from '@skerry/apiserver'
import { consoleBounds } from '../limits-table.ts'
import { wholeText } from '../watches/read-lines.ts'
import { refusedBy } from '../watches/refused-error.ts'
import { readList } from '../watches/shown-object.ts'
import type { SearchQuery } from './search-query.ts'

/** Sends a GET of the searching user. The signal ends it. */
export type Ask = (target: string, accept: string, signal: AbortSignal) => Promise<ApiAnswer>

const { pageObjects, pageBytesMax } = consoleBounds.searchRoute
const accept =
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json;q=0.9'

/** Searches one cluster, kind by kind. Resolves with at most `limit` objects. Rejects with the first refusal. */
export async function searchCluster(
  cluster: string,
  query: SearchQuery,
  ask: Ask,
  signal: AbortSignal,
): Promise<JsonObject[]> {
  const found: JsonObject[] = []
  for (const kind of query.kinds) {
    let next = ''
    do {
      const answer = await ask(targetOf({ cluster, kind, next }, query), accept, signal)
      if (answer.status !== 200) throw await refusedBy(answer)
      const list = readList(JSON.parse(await wholeText(answer.body, pageBytesMax)))
      for (const item of list?.items ?? []) {
        const hit = hitOf(kind, item, query)
        if (hit) found.push(hit)
        if (found.length >= query.limit) return found
      }
      next = list?.continueToken ?? ''
    } while (next !== '')
  }
  return found
}

interface Page {
  readonly cluster: string
  readonly kind: string
  readonly next: string
}

function targetOf({ cluster, kind, next }: Page, { text, isSelector }: SearchQuery): string {
  const parameters = new URLSearchParams({ limit: String(pageObjects) })
  if (next !== '') parameters.set('continue', next)
  if (isSelector) parameters.set('labelSelector', text)
  const prefix = kind.split('/').length === 2 ? 'api' : 'apis'
  return `/clusters/${cluster}/${prefix}/${kind}?${parameters.toString()}`
}

/** The cluster may answer anything. */
function hitOf(kind: string, { metadata }: JsonObject, query: SearchQuery): JsonObject | undefined {
  if (!isJsonObject(metadata)) return undefined
  const { name, namespace, uid, labels, creationTimestamp } = metadata
  if (typeof name !== 'string') return undefined
  if (!query.isSelector && !name.toLowerCase().includes(query.text)) return undefined
  return { kind, name, namespace, uid, labels, creationTimestamp }
}
