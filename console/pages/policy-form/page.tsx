/** A new propagation policy, by a form or as YAML. The hub shows where its objects would go. */
import { useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { listPath, objectPath } from '../../data/hub/api-paths.ts'
import { browserClock } from '../../data/browser/browser-clock.ts'
import { asHubError, type HubError } from '../../data/hub/hub-error.ts'
import { askHub } from '../../data/hub/hub-request.ts'
import { policyKinds, policyObject, policyPage } from '../../data/fleet/policy-names.ts'
import type { Action } from '../../data/hub/rights.ts'
import { writeYaml } from '../../data/objects/yaml-writer.ts'
import { timeLimits } from '../../limits-table.ts'
import { Allowed } from '../../parts/allowed.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { FaultLine } from '../../parts/fault-line.tsx'
import { EditYaml } from '../../parts/object-yaml.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { PolicyOutcome } from '../../parts/policy-outcome.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useTexts } from '../../words/language.ts'
import { emptyForm, namedPolicy, policyOf, type PolicyForm } from './policy-form.ts'
import { texts as both } from './texts.ts'

export function PolicyFormPage() {
  const texts = useTexts(both)
  const [form, setForm] = useState<PolicyForm>(emptyForm)
  const [isYaml, setYaml] = useState(false)
  return (
    <PageFrame title={texts.title} above={<Link href="/policies">{texts.policies}</Link>}>
      {isYaml ? (
        <AsYaml form={form} onEnd={() => setYaml(false)} />
      ) : (
        <AsForm form={form} setForm={setForm} onYaml={() => setYaml(true)} />
      )}
    </PageFrame>
  )
}

/** The hub makes the policy by the same apply that changes one. */
function AsYaml({ form, onEnd }: { readonly form: PolicyForm; readonly onEnd: () => void }) {
  const [, navigate] = useLocation()
  const policy = namedPolicy(form)
  const object = policyObject(policy)
  if (object === undefined) return undefined
  return (
    <EditYaml
      cluster={undefined}
      path={objectPath(undefined, object)}
      before=""
      first={writeYaml(policyOf(form))}
      onEnd={onEnd}
      onApplied={() => navigate(policyPage(policy))}
      outcome={(next) => <PolicyOutcome policy={policy} replicas="" object={next} />}
    />
  )
}

interface AsFormProps {
  readonly form: PolicyForm
  readonly setForm: (form: PolicyForm) => void
  readonly onYaml: () => void
}

function AsForm({ form, setForm, onYaml }: AsFormProps) {
  const texts = useTexts(both)
  const [, navigate] = useLocation()
  const [error, setError] = useState<HubError>()
  const settled = useSettled(form)
  const policy = namedPolicy(form)
  const create = async (): Promise<void> => {
    setError(undefined)
    try {
      const object = policyObject(policy)
      if (object === undefined) return
      const path = listPath(undefined, object, object.namespace)
      await askHub(`${path}?fieldManager=skerry-console&fieldValidation=Strict`, {
        method: 'POST',
        body: policyOf(form),
      })
      navigate(policyPage(policy))
    } catch (thrown) {
      setError(asHubError(thrown))
    }
  }
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        void create()
      }}
    >
      <Fields form={form} set={(change) => setForm({ ...form, ...change })} />
      {settled.name === '' || settled.kinds === '' ? undefined : (
        <PolicyOutcome policy={namedPolicy(settled)} replicas="" object={policyOf(settled)} />
      )}
      <div className="form-end">
        <FaultLine fault={error} />
        <Allowed action={createIn(form)} isExplained isLenient>
          <button type="submit" className="button is-main" disabled={form.name === ''}>
            {texts.create}
          </button>
          <button type="button" className="button" disabled={form.name === ''} onClick={onYaml}>
            {texts.asYaml}
          </button>
        </Allowed>
        <span className="page-space" />
        <CopyButton label={texts.copyYaml} text={writeYaml(policyOf(form))} />
      </div>
    </form>
  )
}

/** The name is not part of the right. */
function createIn({ namespace }: PolicyForm): Action {
  const { isNamespaced: _, ...object } =
    policyKinds[namespace === '' ? 'ClusterPropagationPolicy' : 'PropagationPolicy']
  return {
    verb: 'create',
    object: { ...object, name: '', ...(namespace === '' ? {} : { namespace }) },
  }
}

/** Returns the form as it was when nobody had typed for a moment: the hub is not asked at each letter. */
function useSettled(form: PolicyForm): PolicyForm {
  const [settled, setSettled] = useState(form)
  useEffect(() => {
    const timer = browserClock.after(timeLimits.pauseMs, () => setSettled(form))
    return () => timer.cancel()
  }, [form])
  return settled
}

interface FieldsProps {
  readonly form: PolicyForm
  readonly set: (change: Partial<PolicyForm>) => void
}

const divisions = ['Duplicated', 'Divided', 'Aggregated'] as const

function Fields({ form, set }: FieldsProps) {
  const texts = useTexts(both)
  const field = (key: Exclude<keyof PolicyForm, 'division'>, placeholder = '') => (
    <TextField
      label={texts.fields[key]}
      value={form[key]}
      placeholder={placeholder}
      hint={texts.hints[key]}
      onChange={(value) => set({ [key]: value })}
    />
  )
  return (
    <>
      <fieldset className="panel">
        <legend>{texts.objects}</legend>
        <div className="fields">
          {field('name')}
          {field('namespace', texts.wide)}
          {field('kinds', 'apps/v1/Deployment')}
          {field('objectName', texts.all)}
          {field('objectLabels', 'app=web')}
        </div>
      </fieldset>
      <fieldset className="panel">
        <legend>{texts.clusters}</legend>
        <div className="fields">
          {field('clusterNames', texts.all)}
          {field('clusterLabels', 'stage=edge')}
          {field('exclude')}
        </div>
        <ChoiceField
          label={texts.division}
          value={form.division}
          choices={divisions.map((key) => [key, texts.divisions[key]] as const)}
          onChange={(division) => set({ division })}
        />
      </fieldset>
      <fieldset className="panel">
        <legend>{texts.order}</legend>
        <div className="fields">
          {field('waves', 'stage=pilot; 10%; 50%')}
          {field('percent', '100')}
        </div>
      </fieldset>
    </>
  )
}
