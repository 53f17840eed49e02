/**
 * Sends upstream's API server our protobuf of one object of every kind, and reads its protobuf:
 *   node dev/hack/protobuf-bodies.ts
 * Prints each kind whose object upstream refuses, or stores differently from its JSON.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { buffer } from 'node:stream/consumers'
import { builtinKinds } from '@skerry/kinds'
import { parse } from 'yaml'
import { decodeProtobuf } from '../../packages/apiserver/protobuf/decode-object.ts'
import { loadMessages, messageName } from '../../packages/apiserver/protobuf/message-table.ts'
import { protobufValue } from '../../packages/apiserver/protobuf/protobuf-answer.ts'
import { betaSwitches } from '../differential/corpus.ts'
import { connect, type Connection } from '../differential/subject.ts'
import { subjectOf, type KindExample } from './differential/kind-scripts.ts'
import { buildUpstream } from './upstream/build-upstream.ts'
import { startUpstream } from './upstream/run-upstream.ts'

const protobufType = 'application/vnd.kubernetes.protobuf'
const jsonType = 'application/json'
const namespace = 'default'
/** The fields that a server sets for each object. */
const anew = new Set(['uid', 'managedFields', 'time', 'clusterIP', 'clusterIPs'])

const directory = await mkdtemp(join(tmpdir(), 'skerry-upstream-'))
try {
  const bin = await buildUpstream(['etcd', 'kube-apiserver'])
  const switches = (record: Readonly<Record<string, string>>): string =>
    Object.entries(record)
      .map(([key, value]) => `${key}=${value}`)
      .join(',')
  await using upstream = await startUpstream({
    bin,
    directory,
    apiServerArguments: [
      `--runtime-config=${switches(betaSwitches.runtimeConfig)}`,
      `--feature-gates=${switches(betaSwitches.featureGates)}`,
      '--disable-admission-plugins=ServiceAccount',
    ],
  })
  using connection = connect(upstream)
  await compareKinds(connection)
} finally {
  await rm(directory, { recursive: true, force: true, maxRetries: 5 })
}

async function compareKinds(connection: Connection): Promise<void> {
  const path = join(import.meta.dirname, '../differential/kind-examples.yaml')
  const text = (await readFile(path, 'utf8')).replaceAll('${ns}', namespace)
  // The file has this shape, which dev/hack/differential/kind-scripts.ts declares.
  const examples = parse(text) as KindExample[]
  const kinds = await builtinKinds({ includeBeta: true })
  let same = 0
  for (const example of examples) {
    const { apiVersion } = example
    const kind = kinds.find(
      (each) =>
        each.kind === example.kind &&
        (each.group === '' ? each.version : `${each.group}/${each.version}`) === apiVersion,
    )
    if (!kind) throw new RangeError(`Cannot send an object: there is no ${example.kind}`)
    const { subject } = subjectOf(kind, example)
    const problem = await compareObject(connection, subject)
    if (problem === undefined) same += 1
    else console.log(`${example.kind} of ${apiVersion}: ${problem}`)
  }
  console.log(`${same} of ${examples.length} kinds are the same in protobuf`)
  if (same < examples.length) process.exitCode = 1
}

async function compareObject(
  connection: Connection,
  { example, collection, name }: { example: KindExample; collection: string; name: string },
): Promise<string | undefined> {
  const { name: _name, labels, settled: _s, cleaned: _c, immutable: _i, ...fields } = example
  const { apiVersion, kind, ...rest } = fields
  const object = { apiVersion, kind, metadata: { name, ...(labels ? { labels } : {}) }, ...rest }
  const path = `${collection.replace('${ns}', namespace)}?dryRun=All`
  const own = await protobufValue(object)
  if (!own) return 'has no protobuf form'
  const json = await send(connection, path, { type: jsonType, body: JSON.stringify(object) })
  const protobuf = await send(connection, path, { type: protobufType, body: own })
  if (json.status !== 201 || protobuf.status !== 201) {
    return `${json.status} for JSON, ${protobuf.status} for protobuf: ${protobuf.bytes.toString('latin1')}`
  }
  const message = messageName(await loadMessages(), object) ?? ''
  const read = await decodeProtobuf(protobuf.bytes, message)
  const kept: unknown = JSON.parse(json.bytes.toString())
  const again = Buffer.from((await protobufValue(asObject(read))) ?? [])
  if (!again.equals(protobuf.bytes)) return 'is written in other bytes'
  return isDeepStrictEqual(comparable(read), comparable(kept)) ? undefined : 'is another object'
}

async function send(
  connection: Connection,
  path: string,
  { type, body }: { type: string; body: string | Uint8Array },
): Promise<{ status: number; bytes: Buffer }> {
  const headers = { 'Content-Type': type, Accept: type }
  const sent = { method: 'POST', path, headers, body: Buffer.from(body), isAuthenticated: true }
  const { status, stream } = await connection.send(sent)
  return { status, bytes: await buffer(stream) }
}

function asObject(value: unknown): Record<string, unknown> & { apiVersion: string; kind: string } {
  // A decoded object has both: the reader takes them from the envelope.
  return value as Record<string, unknown> & { apiVersion: string; kind: string }
}

/** Removes fields that the server sets, and nulls, which protobuf lacks. */
function comparable(object: unknown): unknown {
  const text = JSON.stringify(object, (key, value: unknown) =>
    value === null || anew.has(key) || /[tT]imestamp$|Time$|controller-uid$/.test(key)
      ? undefined
      : value,
  )
  return JSON.parse(text)
}
