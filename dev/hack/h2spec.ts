/**
 * Runs h2spec, the suite of others for servers of HTTP/2, against an etcd server in this process. Needs Go and its module
 * proxy.
 *   node dev/hack/h2spec.ts
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { openTestServer } from '../../packages/etcd-server/testing/open-test-server.ts'

const version = 'v2.2.1+incompatible'
/** Expects silence for what is not HTTP/2; the port answers it as HTTP/1.1. */
const expectedFailures = 1

const bin = resolve(import.meta.dirname, '../../node_modules/.cache/upstream/h2spec')
await mkdir(bin, { recursive: true })
execFileSync('nice', ['go', 'install', `github.com/summerwind/h2spec/cmd/h2spec@${version}`], {
  env: { ...process.env, GOBIN: bin },
  stdio: 'inherit',
})
await using server = await openTestServer()
const args = ['-h', '127.0.0.1', '-p', String(server.port), '-P', '/health', '-o', '3']
const child = spawn(join(bin, 'h2spec'), args, { stdio: ['ignore', 'pipe', 'inherit'] })
const exited = once(child, 'close')
let text = ''
child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
await exited
const failures = text.slice(text.indexOf('Failures:'))
console.log(failures)
const [, failed = '?'] = /(\d+) failed/.exec(text) ?? []
if (Number(failed) !== expectedFailures) process.exitCode = 1
