# Old replica sets beyond the limit go, oldest first.

### three templates, one after the other
create
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 1
    revisionHistoryLimit: 1
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
evolve
patch deployments/web {spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}
evolve
patch deployments/web {spec: {template: {spec: {containers: [{name: main, image: "a:3"}]}}}}
evolve

### no history at all
patch deployments/web {spec: {revisionHistoryLimit: 0}}
