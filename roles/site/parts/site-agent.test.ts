import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMetrics, linkedSignal } from '@skerry/base'
import { readBody } from '@skerry/client'
import { clusterResource } from '@skerry/fleet-kinds'
import type { ImpersonationPolicy } from '@skerry/membership'
import { spkiHash } from '@skerry/pki'
import {
  freshToken,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../../testing/scenes/test-fleet.ts'
import { runSite } from '../site.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

/** A site in this process, connected to the hub until it is disposed. */
async function startSite(fleet: TestHub, name: string, agentPolicy: ImpersonationPolicy) {
  const dataDir = join(fleet.directory, name)
  const hubTokenFile = join(fleet.directory, `${name}.token`)
  await writeFile(hubTokenFile, await freshToken(fleet, name))
  const stop = linkedSignal(new AbortController().signal)
  const running = runSite(
    {
      dataDir,
      name,
      listening: { bindAddress: '127.0.0.1', port: 0 },
      network: {
        clusterCidr: '10.42.0.0/16',
        serviceCidr: '10.43.0.0/16',
        clusterDomain: 'cluster.local',
      },
      control: { controllers: { isDisabled: true }, scheduler: { isDisabled: true } },
      agent: {
        hub: fleet.url,
        hubTokenFile,
        hubCaHash: spkiHash(fleet.caPem),
        policy: agentPolicy,
        place: { region: 'north', labels: { link: 'lte' } },
      },
    },
    { ...fleet.context, metrics: createMetrics(), signal: stop.signal },
  )
  const ended = running.catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  await Promise.race([untilCluster(fleet, name, ({ Connected }) => Connected === 'True'), ended])
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'))
      await ended
    },
  }
}

test("a site's own agent acts for the users that the site's operator named, and for nobody else", async () => {
  await using fleet = await startTestHub()
  const policy = { groups: ['system:masters', 'system:authenticated'], deniedGroups: ['guests'] }
  await using _site = await startSite(fleet, 'shop', policy)
  const ask = async (organizations: string[]): Promise<string> => {
    using transport = await fleet.as({ commonName: 'olga', organizations }, '/clusters/shop')
    const request = { method: 'GET', path: '/api/v1/namespaces/default', headers: {} } as const
    const { status, body } = await transport.send(request, soon())
    const { message, kind } = JSON.parse((await readBody(body)).toString())
    return `${status} ${message ?? kind}`
  }
  assert.equal(await ask(['system:masters']), '200 Namespace')
  for (const group of ['guests', 'visitors']) {
    const refusal = `403 Cannot pass request: the cluster's agent does not act for group "${group}"`
    assert.equal(await ask(['system:masters', group]), refusal)
  }
})

test("a site's options say where it is, and set its labels", async () => {
  await using fleet = await startTestHub()
  await using _site = await startSite(fleet, 'shop', {})
  const { spec, metadata } = await fleet.admin
    .resource(clusterResource)
    .get({ name: 'shop' }, soon())
  assert.equal(spec.region, 'north')
  assert.equal(metadata.labels?.['link'], 'lte')
})
