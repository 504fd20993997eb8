# A private function of dataclasses that runs text.
# reaches: the value of evaluated text
# proof: REACHED() == 42
# needs: 3.9-3.12
import dataclasses
REACHED = dataclasses._create_fn("f", [], ["return eval('6 * 7')"])
