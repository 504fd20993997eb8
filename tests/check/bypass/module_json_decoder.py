# A chain of parts of json.
# reaches: json.scanner.re
import json
REACHED = json.decoder.scanner.re
