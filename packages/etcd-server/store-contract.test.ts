import { after } from 'node:test'
import { silentLogger, systemClock } from '@skerry/base'
import { openEtcdStore } from '@skerry/store'
import { storeContract } from '../store/testing/store-contract.ts'
import { openTestServer } from './testing/open-test-server.ts'

const shared = await openTestServer()
after(() => shared[Symbol.asyncDispose]())
const nowhere = new AbortController().signal
let count = 0

/** The product's own client of etcd, which uses grpc-js, against this server. */
storeContract('etcd on skerry etcd', async () => {
  count += 1
  const options = { endpoints: [shared.endpoint], prefix: `/contract/${count}` }
  const store = await openEtcdStore(options, { clock: systemClock, log: silentLogger }, nowhere)
  return {
    store,
    async advance(ms) {
      await systemClock.sleep(ms, nowhere)
      // Requests are executed in order, so watches that began before exist now.
      await store.revision()
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
})
