import {
  clusterTrustBundlePublisher,
  csrSigningController,
  rootCaPublisher,
  serviceAccountTokenController,
} from '@skerry/controllers'
import type { SitePart } from '../contract/site-part.ts'

const yearSeconds = 365 * 24 * 3_600

/** Signs certificates, and publishes the authority that does. */
export function certificates(): SitePart {
  return {
    controllers({ pki: { authority }, time }) {
      return [
        rootCaPublisher(authority.certificatePem),
        clusterTrustBundlePublisher(authority.certificatePem),
        serviceAccountTokenController(authority.certificatePem),
        csrSigningController({
          clientAuthority: authority,
          servingAuthority: authority,
          durationSecondsMax: yearSeconds,
          reckonedMs: () => time.reckonedMs(),
        }),
      ]
    },
  }
}
