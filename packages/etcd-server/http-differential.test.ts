import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { authScript } from './testing/differential/auth-script.ts'
import { gatewayScript } from './testing/differential/gateway-script.ts'
import { runHttpScript, type HttpStep } from './testing/differential/http-script.ts'
import { openTestServer } from './testing/open-test-server.ts'

interface Recorded {
  readonly etcd: string
  readonly gateway: readonly string[]
  readonly auth: readonly string[]
}

/** dev/hack/etcd-answers.ts recorded them. */
const file = join(import.meta.dirname, 'testdata/http-answers.json.gz')
const recorded = JSON.parse(gunzipSync(await readFile(file)).toString()) as Recorded

async function assertSame(steps: readonly HttpStep[], expected: readonly string[]): Promise<void> {
  await using server = await openTestServer()
  const lines = await runHttpScript(server.endpoint, steps)
  for (const [at, line] of lines.entries()) {
    assert.equal(line, expected[at], `step ${at}: ${JSON.stringify(steps[at])}`)
  }
  assert.equal(lines.length, expected.length)
}

test(`JSON over HTTP is answered as the gateway of etcd ${recorded.etcd} answers it`, async () => {
  await assertSame(gatewayScript, recorded.gateway)
})

test(`users, roles and permissions are those of etcd ${recorded.etcd}`, async () => {
  await assertSame(authScript, recorded.auth)
})
