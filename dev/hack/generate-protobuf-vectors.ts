/**
 * Writes packages/apiserver/protobuf/testdata/every-field.json.gz from Kubernetes' Go module of types:
 *   node dev/hack/generate-protobuf-vectors.ts [--version v0.36.3]
 * Upstream keeps an object of every kind with every field set there, as JSON and as protobuf, against which
 * it checks itself. Only the hash of the protobuf is taken over.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { loadMessages, messageName } from '../../packages/apiserver/protobuf/message-table.ts'

const { values } = parseArgs({ options: { version: { type: 'string', default: 'v0.36.3' } } })
const out = join(
  import.meta.dirname,
  '../../packages/apiserver/protobuf/testdata/every-field.json.gz',
)

const cache = execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim()
const directory = join(cache, `k8s.io/api@${values.version}/testdata/HEAD`)
const messages = await loadMessages()
const vectors = globSync('*.json', { cwd: directory })
  .toSorted()
  .flatMap((file) => {
    const value: { apiVersion?: string; kind?: string } = JSON.parse(
      readFileSync(join(directory, file), 'utf8'),
    )
    const { apiVersion = '', kind = '' } = value
    // No server serves alpha versions and removed ones.
    if (messageName(messages, { apiVersion, kind }) === undefined) return []
    const protobuf = readFileSync(join(directory, file.replace(/json$/, 'pb')))
    const sha256 = createHash('sha256').update(protobuf).digest('hex')
    return [{ value, sha256 }]
  })
writeFileSync(out, gzipSync(JSON.stringify(vectors), { level: 9 }))
console.log(`${vectors.length} objects`)
