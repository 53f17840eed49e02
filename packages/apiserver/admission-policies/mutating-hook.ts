import type { MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding } from '@skerry/api'
import type { PolicyHook } from './policy-source.ts'

export type MutatingHook = PolicyHook<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding>

export const mutatingPluginName = 'MutatingAdmissionPolicy'
