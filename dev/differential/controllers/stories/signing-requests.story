# Requests for certificates: a node's own are approved, approved ones signed, wrong ones said to be so.
Quiet: 1500ms
Show: certificatesigningrequests, events

### asked for
create
  kind: CertificateSigningRequest
  metadata: {name: csr-node}
  spec:
    signerName: kubernetes.io/kube-apiserver-client-kubelet
    usages: [digital signature, client auth]
    request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIck1JR1NBZ0VBTURBeEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjekVYTUJVR0ExVUVBd3dPYzNsegpkR1Z0T201dlpHVTZiakV3V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVN4aEtlWUxQb2kwNyt0CnhtcVBUYUlHaFE1eXJWeUZobkRqQk9GSnZRMTV4by9KOHREVjNmRDNPaHNhdHRwdlhwNEhSUjR0aXJVcjkvbEcKa1c1MzhIT2hvQUF3Q2dZSUtvWkl6ajBFQXdJRFNBQXdSUUlnYTgwSkVOTWtiQld1eGE4dFEyNlE5RktHaEFqOQptbTBtQzQzdVZDeDQrNE1DSVFEajJpaFdEVmlTVFdTTThrQWVoRmdmRnhLSXB6VW1WRGFHMFFRVnRaOTFSUT09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=
create
  kind: CertificateSigningRequest
  metadata: {name: csr-user}
  spec:
    signerName: kubernetes.io/kube-apiserver-client
    usages: [digital signature, key encipherment, client auth]
    request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISU1IRUNBUUF3RHpFTk1Bc0dBMVVFQXd3RWFtRnVaVEJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSApBMElBQkxHRXA1Z3MraUxUdjYzR2FvOU5vZ2FGRG5LdFhJV0djT01FNFVtOURYbkdqOG55ME5YZDhQYzZHeHEyCjJtOWVuZ2RGSGkyS3RTdjMrVWFSYm5md2M2R2dBREFLQmdncWhrak9QUVFEQWdOSEFEQkVBaUI1bFNuR0UrbDgKY2doWHBpdmIzVnFUSFIxRGhwcUwvS1YrcGNVNXN5ckxSd0lnUzg4UG8vVzI1dndhOFd0SDFKc0ZJbEFvMjdZYgpMdTJrVWlNYVhyVEJLSE09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=
create
  kind: CertificateSigningRequest
  metadata: {name: csr-serving}
  spec:
    signerName: kubernetes.io/kubelet-serving
    usages: [digital signature, server auth]
    request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIck1JR1NBZ0VBTURBeEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjekVYTUJVR0ExVUVBd3dPYzNsegpkR1Z0T201dlpHVTZiakV3V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVN4aEtlWUxQb2kwNyt0CnhtcVBUYUlHaFE1eXJWeUZobkRqQk9GSnZRMTV4by9KOHREVjNmRDNPaHNhdHRwdlhwNEhSUjR0aXJVcjkvbEcKa1c1MzhIT2hvQUF3Q2dZSUtvWkl6ajBFQXdJRFNBQXdSUUlnYTgwSkVOTWtiQld1eGE4dFEyNlE5RktHaEFqOQptbTBtQzQzdVZDeDQrNE1DSVFEajJpaFdEVmlTVFdTTThrQWVoRmdmRnhLSXB6VW1WRGFHMFFRVnRaOTFSUT09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=
create
  kind: CertificateSigningRequest
  metadata: {name: csr-not-a-node}
  spec:
    signerName: kubernetes.io/kube-apiserver-client-kubelet
    usages: [digital signature, client auth]
    request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISU1IRUNBUUF3RHpFTk1Bc0dBMVVFQXd3RWFtRnVaVEJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSApBMElBQkxHRXA1Z3MraUxUdjYzR2FvOU5vZ2FGRG5LdFhJV0djT01FNFVtOURYbkdqOG55ME5YZDhQYzZHeHEyCjJtOWVuZ2RGSGkyS3RTdjMrVWFSYm5md2M2R2dBREFLQmdncWhrak9QUVFEQWdOSEFEQkVBaUI1bFNuR0UrbDgKY2doWHBpdmIzVnFUSFIxRGhwcUwvS1YrcGNVNXN5ckxSd0lnUzg4UG8vVzI1dndhOFd0SDFKc0ZJbEFvMjdZYgpMdTJrVWlNYVhyVEJLSE09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=
create
  kind: CertificateSigningRequest
  metadata: {name: csr-usage}
  spec:
    signerName: kubernetes.io/kube-apiserver-client
    usages: [digital signature, server auth]
    request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISU1IRUNBUUF3RHpFTk1Bc0dBMVVFQXd3RWFtRnVaVEJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSApBMElBQkxHRXA1Z3MraUxUdjYzR2FvOU5vZ2FGRG5LdFhJV0djT01FNFVtOURYbkdqOG55ME5YZDhQYzZHeHEyCjJtOWVuZ2RGSGkyS3RTdjMrVWFSYm5md2M2R2dBREFLQmdncWhrak9QUVFEQWdOSEFEQkVBaUI1bFNuR0UrbDgKY2doWHBpdmIzVnFUSFIxRGhwcUwvS1YrcGNVNXN5ckxSd0lnUzg4UG8vVzI1dndhOFd0SDFKc0ZJbEFvMjdZYgpMdTJrVWlNYVhyVEJLSE09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=
create
  kind: CertificateSigningRequest
  metadata: {name: csr-other}
  spec:
    signerName: example.com/other
    usages: [client auth]
    request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISU1IRUNBUUF3RHpFTk1Bc0dBMVVFQXd3RWFtRnVaVEJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSApBMElBQkxHRXA1Z3MraUxUdjYzR2FvOU5vZ2FGRG5LdFhJV0djT01FNFVtOURYbkdqOG55ME5YZDhQYzZHeHEyCjJtOWVuZ2RGSGkyS3RTdjMrVWFSYm5md2M2R2dBREFLQmdncWhrak9QUVFEQWdOSEFEQkVBaUI1bFNuR0UrbDgKY2doWHBpdmIzVnFUSFIxRGhwcUwvS1YrcGNVNXN5ckxSd0lnUzg4UG8vVzI1dndhOFd0SDFKc0ZJbEFvMjdZYgpMdTJrVWlNYVhyVEJLSE09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=
create
  kind: CertificateSigningRequest
  metadata: {name: csr-denied}
  spec:
    signerName: kubernetes.io/kube-apiserver-client
    usages: [client auth]
    request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISU1IRUNBUUF3RHpFTk1Bc0dBMVVFQXd3RWFtRnVaVEJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSApBMElBQkxHRXA1Z3MraUxUdjYzR2FvOU5vZ2FGRG5LdFhJV0djT01FNFVtOURYbkdqOG55ME5YZDhQYzZHeHEyCjJtOWVuZ2RGSGkyS3RTdjMrVWFSYm5md2M2R2dBREFLQmdncWhrak9QUVFEQWdOSEFEQkVBaUI1bFNuR0UrbDgKY2doWHBpdmIzVnFUSFIxRGhwcUwvS1YrcGNVNXN5ckxSd0lnUzg4UG8vVzI1dndhOFd0SDFKc0ZJbEFvMjdZYgpMdTJrVWlNYVhyVEJLSE09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=

### approved and denied
patch certificatesigningrequests/csr-user/approval {status: {conditions: [{type: Approved, status: "True", reason: Said, message: so}]}}
patch certificatesigningrequests/csr-serving/approval {status: {conditions: [{type: Approved, status: "True", reason: Said, message: so}]}}
patch certificatesigningrequests/csr-not-a-node/approval {status: {conditions: [{type: Approved, status: "True", reason: Said, message: so}]}}
patch certificatesigningrequests/csr-usage/approval {status: {conditions: [{type: Approved, status: "True", reason: Said, message: so}]}}
patch certificatesigningrequests/csr-other/approval {status: {conditions: [{type: Approved, status: "True", reason: Said, message: so}]}}
patch certificatesigningrequests/csr-denied/approval {status: {conditions: [{type: Denied, status: "True", reason: Said, message: no}]}}
