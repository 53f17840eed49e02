import type { AdmissionPlugin, Objects } from '@skerry/apiserver'
import { customizationAdmission } from './customization-admission.ts'
import { deletionProtection } from './deletion-protection.ts'

/** What Karmada's webhooks decide that no object can tell by itself. */
export function fleetAdmission(objects: Objects): AdmissionPlugin[] {
  return [customizationAdmission(objects), deletionProtection]
}
