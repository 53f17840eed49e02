import type { EtcdClient, RequestOf, RpcName } from '../etcd-client.ts'
import { StatusOfCall } from '../etcd-client.ts'

/** One request of a script; scripts are the same for etcd and for this server. */
export type Step = {
  [Name in RpcName]: { readonly call: Name; readonly request: RequestOf<Name> }
}[RpcName]

/** A watch that is opened when the script has run; it ends with the put and the delete of `sentinel`. */
export type WatchStep = NonNullable<RequestOf<'Watch'>['createRequest']>

export interface Script {
  readonly steps: readonly Step[]
  readonly watches: readonly WatchStep[]
}

const sentinel = Buffer.from('zz/end')

/** Runs the script and returns what was answered, one line each, without ids and times. */
export async function runScript(client: EtcdClient, script: Script): Promise<string[]> {
  const lines: string[] = []
  for (const step of script.steps) lines.push(await answerTo(client, step))
  await client.call('Put', { key: sentinel, value: sentinel })
  const { header } = await client.call('DeleteRange', { key: sentinel })
  const last = header?.revision ?? 0
  lines.push(await answerTo(client, { call: 'HashKV', request: { revision: last } }))
  for (const watch of script.watches) lines.push(await eventsOf(client, watch, last))
  return lines
}

async function answerTo(client: EtcdClient, { call, request }: Step): Promise<string> {
  try {
    // The request is that of the call, as the type of a step says.
    const line = `${call} ${shown(await client.call(call, request as never))}`
    // etcd 3.7 leaves out the lease together with the value; 3.4 to 3.6 do not, and nor does this server.
    return shown(request).includes('"keysOnly":true')
      ? line.replaceAll(/,"lease":"\d+"/g, '')
      : line
  } catch (error) {
    if (error instanceof StatusOfCall) return `${call} fails with ${error.message}`
    throw error
  }
}

/** Returns the events of a watch up to the sentinel, however they were divided into answers. */
async function eventsOf(client: EtcdClient, watch: WatchStep, last: number): Promise<string> {
  const stream = client.stream('Watch')
  stream.send({ createRequest: watch })
  const events: unknown[] = []
  const noDelete = watch.filters?.includes(1) ?? false
  const end = noDelete ? last - 1 : last
  for await (const answer of stream) {
    if (answer.canceled) {
      const { canceled, compactRevision, cancelReason, created } = answer
      events.push({ canceled, compactRevision, cancelReason, created })
      break
    }
    events.push(...answer.events)
    if (answer.events.some(({ kv }) => (kv?.modRevision ?? 0) >= end)) break
  }
  stream.cancel()
  return `Watch ${shown(events)}`
}

/** Fields that differ between servers, and from run to run. */
const varying = new Set(['clusterId', 'memberId', 'raftTerm'])

export function shown(value: unknown): string {
  return JSON.stringify(value, (name, each: unknown) => {
    if (varying.has(name) || each === '' || each === false || each === 0) return undefined
    // The time that is left, within a minute or two.
    if (name === 'ttl') return Math.ceil(Number(each) / 100) * 100
    if (typeof each === 'bigint') return each === 0n ? undefined : `${each}`
    // Node gives its buffers a JSON form of their own.
    if (name === 'keys' && Array.isArray(each)) each.sort(byBytes)
    const bytes = bytesOf(each)
    if (bytes) return bytes.length === 0 ? undefined : textOf(bytes)
    return Array.isArray(each) && each.length === 0 ? undefined : each
  })
}

function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined
  return value.type === 'Buffer' && 'data' in value
    ? Buffer.from(value.data as number[])
    : undefined
}

/** The keys of a lease have no order. */
function byBytes(one: unknown, other: unknown): number {
  return one instanceof Uint8Array && other instanceof Uint8Array ? Buffer.compare(one, other) : 0
}

/** Long values are shown by their length. */
function textOf(bytes: Uint8Array): string {
  return bytes.length > 64 ? `${bytes.length} bytes` : Buffer.from(bytes).toString('latin1')
}
