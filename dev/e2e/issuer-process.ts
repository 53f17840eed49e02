/**
 * Serves an issuer in a separate process, for a host: `node dev/e2e/issuer-process.ts <address> <user> [group...]` prints
 * the issuer's facts as a line of JSON, and serves until it is killed. Every login there is that user's.
 */
import { startTestIssuer } from '@skerry/testing'

const [address = '127.0.0.1', sub = 'nobody', ...groups] = process.argv.slice(2)
const issuer = await startTestIssuer({ address })
issuer.setPerson({ sub, groups })
const { url, ca, clientId } = issuer
console.log(JSON.stringify({ url, ca, clientId }))
