import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics, ExpectedError, exitCodes, silentLogger } from '@skerry/base'
import { toHostPort } from '../../cmd/flags/option-values.ts'
import { openMetricsServer } from './agent-metrics-server.ts'

test('an address for metrics is a host and a port, of either family', () => {
  assert.deepEqual(toHostPort('127.0.0.1:9273'), { host: '127.0.0.1', port: 9_273 })
  assert.deepEqual(toHostPort('[::1]:0'), { host: '::1', port: 0 })
  assert.deepEqual(toHostPort('localhost:80'), { host: 'localhost', port: 80 })
  for (const odd of ['', '9273', ':9273', 'host', '::1:9273', 'host:', 'host:99999', '[::1]']) {
    assert.throws(() => toHostPort(odd), /e\.g\. 127|from 0 to 65535/, odd)
  }
})

test('an address that cannot be had is reported with a remedy', async () => {
  const host = '127.0.0.1'
  await using first = await openMetricsServer({ host, port: 0 }, createMetrics(), silentLogger)
  const again = openMetricsServer({ host, port: first.port }, createMetrics(), silentLogger)
  await assert.rejects(again, (error) => {
    assert.ok(error instanceof ExpectedError)
    assert.equal(error.exitCode, exitCodes.portTaken)
    assert.match(error.message, /is in use; pass another --metrics-bind-address$/)
    return true
  })
  const foreign = openMetricsServer({ host: '192.0.2.1', port: 0 }, createMetrics(), silentLogger)
  await assert.rejects(foreign, /it is not this machine’s; pass another --metrics-bind-address$/)
})
