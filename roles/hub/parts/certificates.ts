import { csrSigningController, rootCaPublisher } from '@skerry/controllers'
import { agentSerialPrefix } from '@skerry/membership'
import type { HubPart } from '../contract/hub-part.ts'

const yearSeconds = 365 * 24 * 3_600

/** Signs certificates, and publishes the authority that does. */
export function certificates(): HubPart {
  return {
    controllers({ pki: { authority }, time, objects }) {
      return [
        rootCaPublisher(authority.certificatePem),
        csrSigningController({
          clientAuthority: authority,
          servingAuthority: authority,
          durationSecondsMax: yearSeconds,
          reckonedMs: () => time.reckonedMs(),
          serialPrefixOf: ({ commonName: name, organizations: groups = [] }) =>
            agentSerialPrefix(objects, { name, groups }),
        }),
      ]
    },
  }
}
