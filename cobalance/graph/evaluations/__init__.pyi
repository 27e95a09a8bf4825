from . import reading as reading, statements as statements, writing as writing
