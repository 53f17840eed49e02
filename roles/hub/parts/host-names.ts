import { createHostNames } from '@skerry/gateway'
import type { HubPart } from '../contract/hub-part.ts'

/** Gives each cluster a host name of its own, `<cluster>.<domain>`, where there is a domain. */
export function hostNames({ clusterDomain }: { clusterDomain?: string | undefined }): HubPart {
  return {
    sans: clusterDomain === undefined ? [] : [`*.${clusterDomain.toLowerCase()}`],
    retarget: createHostNames({ clusterDomain }),
  }
}
