import type { AdmissionPlugin, Objects } from '@skerry/apiserver'
import { customizationAdmission } from './customization-admission.ts'
import { deletionProtection } from './deletion-protection.ts'

/** Returns the checks of Karmada's webhooks that need more than the object itself. */
export function fleetAdmission(objects: Objects): AdmissionPlugin[] {
  return [customizationAdmission(objects), deletionProtection]
}
